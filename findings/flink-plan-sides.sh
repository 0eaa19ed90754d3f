#!/bin/sh
# Apache Flink 2.3.0: getExecutionPlan() gives both inputs of a two-input operator the side "second".
#
# The field `side` of a predecessor exists to tell the inputs of an operator apart. `JSONGenerator`
# adds the input to the list before it asks whether the list is empty, so that no input is ever
# "first"; the only input of a map is "second", too. A left and a right input of a join are known by
# their order in the list only. Flink 1.17.2 does the same.
#
# Output seen (Java 17, Linux, x86-64; installing takes 330 MB):
#   left: Source: left, side second
#   right: Source: right, side second
set -eu
command -v javac >/dev/null || { echo "skipped: needs a JDK" >&2; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --no-deps --target "$folder/flink" apache-flink-libraries==2.3.0
cat > "$folder/Sides.java" <<'JAVA'
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.co.CoMapFunction;

public class Sides {
    static StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();

    static DataStream<Long> source(String name) {
        return env.fromSource(
                new NumberSequenceSource(0, 9), WatermarkStrategy.noWatermarks(), name);
    }

    public static void main(String[] args) {
        source("left").connect(source("right")).map(new Either()).name("join").print();
        System.out.println(env.getExecutionPlan());
    }

    public static class Either implements CoMapFunction<Long, Long, Long> {
        public Long map1(Long left) {
            return left;
        }

        public Long map2(Long right) {
            return -right;
        }
    }
}
JAVA
javac -nowarn -d "$folder" -cp "$folder/flink/pyflink/lib/*" "$folder/Sides.java"
java --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED \
    -cp "$folder:$folder/flink/pyflink/lib/*" Sides > "$folder/plan.json" 2> "$folder/errors" ||
    { cat "$folder/errors" >&2; exit 1; }
python3 - "$folder/plan.json" <<'PYTHON'
import json
import sys

text = open(sys.argv[1]).read()
nodes = {each["id"]: each for each in json.loads(text[text.index("{"):])["nodes"]}
(join,) = [each for each in nodes.values() if each["type"] == "join"]
for what, each in zip(("left", "right"), join["predecessors"], strict=True):
    print(f"{what}: {nodes[each['id']]['type']}, side {each['side']}")
assert [each["side"] for each in join["predecessors"]] == ["second", "second"], "this has changed"
PYTHON
