"""Items that a block emits for each item that it takes at an input, by its type."""

from math import inf

from streamplace.integrations.gnuradio.flowgraph import Block, Variables

RATES: dict[str, tuple[str, str]] = {
    "analog_am_demod_cf": ("", "audio_decim"),
    "analog_cpfsk_bc": ("samples_per_symbol", ""),
    "analog_fm_demod_cf": ("", "audio_decim"),
    "analog_nbfm_rx": ("audio_rate", "quad_rate"),
    "analog_nbfm_tx": ("quad_rate", "audio_rate"),
    "analog_wfm_rcv": ("", "audio_decimation"),
    "analog_wfm_rcv_pll": ("", "audio_decimation"),
    "analog_wfm_tx": ("quad_rate", "audio_rate"),
    "band_pass_filter": ("interp", "decim"),
    "band_reject_filter": ("interp", "decim"),
    "blocks_deinterleave": ("", "num_streams"),
    "blocks_integrate_xx": ("", "decim"),
    "blocks_interleave": ("num_streams", ""),
    "blocks_keep_m_in_n": ("m", "n"),
    "blocks_keep_one_in_n": ("", "n"),
    "blocks_pack_k_bits_bb": ("", "k"),
    "blocks_repeat": ("interp", ""),
    "blocks_stream_to_streams": ("", "num_streams"),
    "blocks_stream_to_vector": ("", "num_items"),
    "blocks_streams_to_stream": ("num_streams", ""),
    "blocks_unpack_k_bits_bb": ("k", ""),
    "blocks_vector_to_stream": ("num_items", ""),
    "channels_channel_model": ("", "epsilon"),
    "digital_chunks_to_symbols_xx": ("dimension", ""),
    "fft_filter_xxx": ("", "decim"),
    "filter_fft_low_pass_filter": ("", "decim"),
    "filter_fft_rrc_filter": ("", "decim"),
    "fir_filter_xxx": ("", "decim"),
    "freq_xlating_fft_filter_ccc": ("", "decim"),
    "freq_xlating_fir_filter_xxx": ("", "decim"),
    "high_pass_filter": ("interp", "decim"),
    "interp_fir_filter_xxx": ("interp", ""),
    "ival_decimator": ("", "decimation"),
    "low_pass_filter": ("interp", "decim"),
    "mmse_resampler_xx": ("", "resamp_ratio"),
    "pfb_arb_resampler_xxx": ("rrate", ""),
    "pfb_decimator_ccf": ("", "decim"),
    "pfb_interpolator_ccf": ("interp", ""),
    "rational_resampler_xxx": ("interp", "decim"),
    "root_raised_cosine_filter": ("interp", "decim"),
}
"""Type -> the parameters whose quotient is the rate; an empty one is 1."""

_SAME_RATE = {
    "analog": """agc_xx agc2_xx agc3_xx dpll_bb feedforward_agc_cc fm_deemph fm_preemph
        frequency_modulator_fc phase_modulator_fc pll_carriertracking_cc pll_freqdet_cf
        pll_refout_cc quadrature_demod_cf rail_ff""",
    "blocks": """abs_xx add_const_vxx add_xx and_const_xx and_xx char_to_float char_to_short
        complex_to_arg complex_to_float complex_to_imag complex_to_mag complex_to_mag_squared
        complex_to_magphase complex_to_real conjugate_cc copy correctiq delay divide_xx endian_swap
        exponentiate_const_cci float_to_char float_to_complex float_to_int float_to_short
        float_to_uchar freqshift_cc head int_to_float magphase_to_complex max_xx min_xx
        moving_average_xx multiply_by_tag_value_cc multiply_conjugate_cc multiply_const_vxx
        multiply_const_xx multiply_matrix_xx multiply_xx mute_xx nlog10_ff nop not_xx or_xx
        phase_shift rms_xx rotator_cc sample_and_hold_xx short_to_char short_to_float skiphead
        stream_to_tagged_stream streams_to_vector sub_xx swapiq tag_gate threshold_ff throttle
        throttle2 transcendental uchar_to_float vco_c vco_f vector_to_streams xor_xx""",
    "channels": "cfo_model fading_model selective_fading_model",
    "digital": """additive_scrambler_bb binary_slicer_fb costas_loop_cc descrambler_bb
        diff_decoder_bb diff_encoder_bb diff_phasor_cc fll_band_edge_cc map_bb scrambler_bb""",
    "": "dc_blocker_xx fft_vxx hilbert_fc iir_filter_xxx single_pole_iir_filter_xx",
}
"""Prefix of types -> those that emit an item for each item at an input."""
SAME_RATE = frozenset(
    f"{prefix}_{name}" if prefix else name
    for prefix, names in _SAME_RATE.items()
    for name in names.split()
)
PACED_BY = {
    "audio_sink": "samp_rate",
    "audio_source": "samp_rate",
    "blocks_throttle": "samples_per_second",
    "blocks_throttle2": "samples_per_second",
    "soapy_hackrf_sink": "samp_rate",
    "soapy_hackrf_source": "samp_rate",
    "soapy_limesdr_sink": "samp_rate",
    "soapy_limesdr_source": "samp_rate",
    "soapy_plutosdr_sink": "samp_rate",
    "soapy_plutosdr_source": "samp_rate",
    "soapy_rtlsdr_source": "samp_rate",
    "uhd_usrp_sink": "samp_rate",
    "uhd_usrp_source": "samp_rate",
}
"""Type of a block that keeps to a clock -> the parameter with its rate in items/s."""


def rate_of(block: Block, variables: Variables) -> float | None:
    """Return the items on each output per item at each input; None if it is not known."""
    if block.type in SAME_RATE:
        return 1.0
    if block.type not in RATES:
        return None
    above, below = RATES[block.type]
    if above and below:  # of filters with a choice, only the parameter of the chosen type counts
        kind = block.parameters.get("type", "")
        above = "" if kind.startswith("fir_filter") else above
        below = "" if kind.startswith("interp_fir_filter") else below
    return _quotient(*(_parameter(block, name, variables) for name in (above, below)))


def _quotient(above: float | None, below: float | None) -> float | None:
    if not above or not below or above < 0 or below < 0:
        return None
    return above / below if 0 < above / below < inf else None


def clock_of(block: Block, variables: Variables) -> float | None:
    """Return the items/s to which a block keeps; None if it keeps to no known clock."""
    if block.type not in PACED_BY:
        return None
    rate = _parameter(block, PACED_BY[block.type], variables)
    return rate if rate and rate > 0 else None


def _parameter(block: Block, name: str, variables: Variables) -> float | None:
    return variables.number(block.parameters.get(name, "")) if name else 1.0
