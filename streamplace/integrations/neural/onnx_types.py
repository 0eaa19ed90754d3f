"""Rules for the types of ONNX (opsets 1 to 28) and of ONNX Runtime.

The operators of ONNX Runtime, ``com.microsoft``, that compute what one of ONNX does are in
`onnx_runtime`.
"""

from streamplace.integrations.neural import formulas, rules
from streamplace.integrations.neural.rules import Rules, table

PREFIX = "com.microsoft."
RULES: Rules = {
    **table("Conv DeformConv ConvInteger CausalConvWithState", rules.convolution()),
    "QLinearConv": rules.convolution(weights=3),
    "ConvTranspose": rules.transposed_convolution(),
    **table("MatMul Gemm MatMulInteger QLinearMatMul AffineGrid", rules.product),
    "Einsum": rules.einstein_sum,
    "Attention": rules.onnx_attention,
    **table("LSTM GRU RNN", rules.recurrent(1)),
    **table("MaxPool AveragePool LpPool", rules.pooling),
    "DFT": rules.fourier,
    "STFT": rules.short_time_fourier(window=2),
    "Det": rules.per_matrix(lambda size: formulas.lu(size, size)),
    **table("Softmax LogSoftmax LayerNormalization InstanceNormalization", rules.softmax),
    **table("GroupNormalization RMSNormalization MeanVarianceNormalization", rules.softmax),
    "BatchNormalization": rules.times(2),
    **table("LpNormalization RotaryEmbedding DynamicQuantizeLinear", rules.times(3)),
    "LRN": rules.local_normalisation,
    **table("Resize Upsample", rules.resizing),
    "GridSample": rules.sampling,
    "RoiAlign": rules.regions,
    **table("Max Mean Min Sum", rules.joining),
    **table(
        "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
        "ReduceSum ReduceSumSquare GlobalAveragePool GlobalLpPool GlobalMaxPool ArgMax ArgMin TopK "
        "NonZero Hardmax Col2Im",
        rules.reading,
    ),
    **table(
        "Input Constant Reshape Squeeze Unsqueeze Flatten Shape Size Identity Dropout BitCast "
        "Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty "
        "SequenceErase SequenceInsert SequenceLength",
        rules.free,
    ),
    **table(
        "Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr "
        "BitwiseXor Ceil Clip Cos Cosh Div Equal Erf Exp Floor Greater GreaterOrEqual IsInf IsNaN "
        "Less LessOrEqual Log Mod Mul Neg Not Or Pow Reciprocal Round Sign Sin Sinh Sqrt Sub Tan "
        "Where Xor",
        rules.elementwise,
    ),
    **table(
        "Celu Elu Gelu HardSigmoid HardSwish LeakyRelu Mish PRelu Relu Selu Shrink Sigmoid "
        "Softplus Softsign SwiGLU Swish Tanh ThresholdedRelu",
        rules.elementwise,
    ),
    **table(
        "Bernoulli BlackmanWindow Cast CastLike CenterCropPad Compress Concat ConcatFromSequence "
        "ConstantOfShape CumProd CumSum DepthToSpace DequantizeLinear Expand EyeLike Gather "
        "GatherElements GatherND HammingWindow HannWindow MaxUnpool OneHot Pad QuantizeLinear "
        "RandomNormal RandomNormalLike RandomUniform RandomUniformLike Range ReverseSequence "
        "Scatter ScatterElements ScatterND Slice SpaceToDepth Split SplitToSequence TensorScatter "
        "Tile Transpose Trilu",
        rules.elementwise,
    ),
    **{
        f"ai.onnx.ml.{kind}": rule
        for kind, rule in {
            **table("Scaler Normalizer", rules.times(2)),
            **table("Binarizer Imputer LabelEncoder OneHotEncoder", rules.elementwise),
            **table("ArrayFeatureExtractor FeatureVectorizer", rules.elementwise),
        }.items()
    },
    **{
        PREFIX + kind: rule
        for kind, rule in {
            **table("MatMulNBits MatMulBnb4 MatMulFpQ4 GemmFloat8 QOrderedMatMul", rules.product),
            "MatMulBlockQuantizedFp8Weight": rules.product,
            "MatMulBlockQuantizedFp4Weight": rules.product,
            **table("Attention QAttention", rules.projected_attention),
            "DynamicQuantizeLSTM": rules.recurrent(1),
            "CDist": rules.distances,
            "Inverse": rules.per_matrix(formulas.inverse),
            **table("Rfft Irfft", rules.signal_fourier),
            **table("ComplexMul ComplexMulConj", rules.times(3)),
            "EmbedLayerNormalization": rules.times(rules.SOFTMAX + 2),
        }.items()
    },
}
"""Type -> its rule; types of other domains than ONNX's begin with the domain."""
