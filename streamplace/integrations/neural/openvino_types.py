"""Rules for the types of OpenVINO's IR, opsets 1 to 16."""

from streamplace.integrations.neural import formulas, rules
from streamplace.integrations.neural.rules import Rules, table

RULES: Rules = {
    **table("Convolution BinaryConvolution", rules.convolution()),  # outputs, inputs, kernel
    "GroupConvolution": rules.convolution(2),  # groups, outputs, inputs, kernel
    "DeformableConvolution": rules.convolution(weights=2),
    "ConvolutionBackpropData": rules.transposed_convolution(),  # inputs, outputs, kernel
    "GroupConvolutionBackpropData": rules.transposed_convolution(2),
    "MatMul": rules.product,
    "Einsum": rules.einstein_sum,
    "ScaledDotProductAttention": rules.attention,
    **table("GRUCell RNNCell AUGRUCell", rules.recurrent(2)),
    **table("LSTMCell GRUSequence RNNSequence AUGRUSequence", rules.recurrent(3)),
    "LSTMSequence": rules.recurrent(4),
    **table("MaxPool AvgPool", rules.pooling),
    **table("DFT IDFT RDFT IRDFT", rules.last_axes_fourier),
    "STFT": rules.short_time_fourier(window=1),
    "ISTFT": rules.short_time_fourier(window=1, inverse=True),
    "Inverse": rules.per_matrix(formulas.inverse),
    **table("Softmax SoftMax LogSoftmax MVN GRN GroupNormalization RMS", rules.softmax),
    "BatchNormInference": rules.times(2),
    **table("NormalizeL2 RoPE", rules.times(3)),
    **table("I420toBGR I420toRGB NV12toBGR NV12toRGB", rules.times(5)),
    "LRN": rules.local_normalisation,
    "Interpolate": rules.resizing,
    "GridSample": rules.sampling,
    **table("ROIAlign ROIAlignRotated", rules.regions),
    **table("EmbeddingBagOffsets EmbeddingBagOffsetsSum EmbeddingBagPacked", rules.bags),
    **table("EmbeddingBagPackedSum EmbeddingSegmentsSum", rules.bags),
    "Bucketize": rules.binary_search(1),
    "SearchSorted": rules.binary_search(0),
    **table(
        "ReduceL1 ReduceL2 ReduceLogicalAnd ReduceLogicalOr ReduceMax ReduceMean ReduceMin "
        "ReduceProd ReduceSum AdaptiveAvgPool AdaptiveMaxPool Col2Im NonZero RegionYolo SegmentMax "
        "TopK",
        rules.reading,
    ),
    **table(
        "Parameter Result Const Constant Reshape Squeeze Unsqueeze ShapeOf Identity ReadValue "
        "Assign",
        rules.free,
    ),
    **table(
        "Abs Acos Acosh Add Asin Asinh Atan Atanh BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr "
        "BitwiseRightShift BitwiseXor Ceiling Clamp Cos Cosh Divide Equal Erf Exp Floor FloorMod "
        "Greater GreaterEqual IsFinite IsInf IsNaN Less LessEqual Log LogicalAnd LogicalNot "
        "LogicalOr LogicalXor Maximum Minimum Mod Multiply Negative NotEqual Power Round Select "
        "Sign Sin Sinh Sqrt SquaredDifference Subtract Tan",
        rules.elementwise,
    ),
    **table(
        "Elu Gelu HSigmoid HSwish HardSigmoid Mish PReLU PRelu ReLU Relu Selu Sigmoid SoftPlus "
        "SoftSign Swish Tanh",
        rules.elementwise,
    ),
    **table(
        "BatchToSpace Broadcast Concat Convert ConvertLike ConvertPromoteTypes CumSum DepthToSpace "
        "ExtractImagePatches Eye FakeConvert FakeQuantize Gather GatherElements GatherND "
        "GatherTree OneHot Pad PriorBox PriorBoxClustered RandomUniform Range ReorgYolo "
        "ReverseSequence Roll ScatterElementsUpdate ScatterNDUpdate ScatterUpdate ShuffleChannels "
        "Slice SliceScatter SpaceToBatch SpaceToDepth Split StridedSlice Tile Transpose "
        "VariadicSplit",
        rules.elementwise,
    ),
}
"""Type -> its rule."""
