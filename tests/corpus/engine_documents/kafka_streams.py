"""Hand-written topology descriptions in the format of Kafka Streams."""

KAFKA = """\
some line of a log
Topologies:
   Sub-topology: 0
    Source: lines (topics: [text, more])
      --> split
    Processor: split (stores: [])
      --> filter, peek
      <-- lines
    Processor: filter (stores: [a-store, b-store])
      --> by-word
      <-- split
    Processor: peek (stores: [])
      --> none
      <-- split
    Sink: by-word (topic: words)
      <-- filter

  Sub-topology: 1
    Source: words-in (topics: [words])
      --> count
    Processor: count (stores: [counts])
      --> out
      <-- words-in
    Sink: out (topic: counts)
      <-- count

"""
KAFKA_OLD = """\
Sub-topologies:
Sub-topology: 0
    Source: lines (topics: [text]) --> split, peek
    Processor: split (stores: []) --> by-word <-- lines
    Processor: peek (stores: []) --> none <-- lines
    Sink: by-word (topic: words) <-- split
Sub-topology: 1
    Source: words-in (topics: [words]) --> out
    Sink: out (topic: counts) <-- words-in
"""
STORES = """\
  Sub-topology: 2 for global store (will not generate tasks)
    Source: names (topics: [names])
      --> keep-names
    Processor: keep-names (stores: [all-names])
      --> none
      <-- names
  Sub-topology: 3 for global store (will not generate tasks)
    Source: places (topics: [counts])
      --> keep-places
    Processor: keep-places (stores: [all-places])
      --> none
      <-- places
"""
STORES_OF_1_0 = """\
Global Stores:
  GlobalStore: names (topic: [names])
      --> keep-names (store: all-names)
  GlobalStore: places (topic: [counts])
      --> keep-places (store: all-places)
"""
