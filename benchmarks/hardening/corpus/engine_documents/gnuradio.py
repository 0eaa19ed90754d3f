"""A flowgraph of GNU Radio in both formats of connections, and counters of it."""

import json

GRC = """\
options:
  parameters: {id: receiver, title: Receiver, generate_options: no_gui}
blocks:
- name: samp_rate
  id: variable
  parameters: {value: int(32e3)}
  states: {state: enabled, coordinate: [8, 8]}
- name: decim
  id: parameter
  parameters: {value: samp_rate // 8000}
  states: {state: true}
- name: recorded
  id: blocks_file_source
  parameters: {affinity: '', file: recorded.iq, type: complex}
  states: {state: enabled}
- name: paced
  id: blocks_throttle
  parameters: {affinity: '1', samples_per_second: samp_rate, type: complex}
  states: {state: enabled}
- name: louder
  id: blocks_multiply_const_vxx
  parameters: {const: '2', type: complex}
  states: {state: bypassed}
- name: to_filter
  id: virtual_sink
  parameters: {stream_id: samples}
- name: from_throttle
  id: virtual_source
  parameters: {stream_id: samples}
- name: filter
  id: low_pass_filter
  parameters: {affinity: '', decim: decim, interp: '5', type: fir_filter_ccf}
  states: {state: enabled}
- name: power
  id: blocks_complex_to_mag_squared
  parameters: {affinity: ''}
  states: {state: enabled}
- name: sum
  id: blocks_add_xx
  parameters: {affinity: '', type: float}
  states: {state: enabled}
- name: measured
  id: blocks_file_sink
  parameters: {affinity: '', file: measured.f32, type: float}
  states: {state: enabled}
- name: unused
  id: blocks_null_sink
  parameters: {type: float}
  states: {state: disabled}
- name: ticks
  id: blocks_message_strobe
  parameters: {period: '500'}
- name: printed
  id: blocks_message_debug
connections:
- [recorded, '0', paced, '0']
- [paced, '0', louder, '0']
- [louder, '0', to_filter, '0']
- [from_throttle, '0', filter, '0']
- [filter, '0', power, '0']
- [power, '0', sum, '0']
- [power, '0', sum, '1']
- [sum, '0', measured, '0']
- [sum, '0', unused, '0']
- [ticks, strobe, printed, print]
metadata: {file_format: 1}
"""
GRC_2 = GRC.replace(
    "- [recorded, '0', paced, '0']",
    "- {src_blk_id: recorded, src_port_id: '0', snk_blk_id: paced, snk_port_id: '0', params: {}}",
)
_STREAMS = (("recorded", "filter", 8), ("filter", "sum", 4), ("filter", "sum", 4))
_HEAD = {
    "gnuradio": "3.10.5.1",
    "threads": {"recorded": [11], "filter": [12, 13], "sum": [14], "ticks": [15]},
    "streams": [
        {"source": source, "target": target, "item_bytes": size}
        for source, target, size in _STREAMS
    ],
    "messages": [["ticks", "filter"]],
}


def counters(seconds: int = 5) -> str:
    """Return counters of 8,000 items/s, a fourth of which passes the filter."""
    rows = [
        {
            "at_s": float(t),
            "items": [8000 * t, 2000 * t, 2000 * t],
            "cpu_s": {
                "recorded": 0.008 * t,
                "filter": 0.16 * t,
                "sum": 0.04 * t,
                "ticks": 0.01 * t,
            },
        }
        for t in range(seconds + 1)
    ]
    return "".join(json.dumps(each) + "\n" for each in (_HEAD, *rows))
