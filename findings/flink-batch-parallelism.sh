#!/bin/sh
# Apache Flink 2.3.0: of one batch job, getExecutionPlan() states the number of processors as the
# parallelism of every operator, and the plan of its job graph states -1: not decided.
#
# Where a batch job sets no parallelism, the adaptive batch scheduler decides it while the job runs.
# `JSONGenerator` prints what `StreamNode.getParallelism` answers, which is the default of the
# environment, and nothing in that plan tells such a number from one that the job sets itself. The
# job graph, from which Flink's REST API makes its plan, has -1. Flink 1.17.2 does the same.
#
# Output seen (Java 17, Linux, x86-64, two processors; installing takes 330 MB):
#   getExecutionPlan: 2 of 2 operators without a parallelism of their own have 2, the processors
#   job graph: 2 of 2 vertices have -1
set -eu
command -v javac >/dev/null || { echo "skipped: needs a JDK" >&2; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --no-deps --target "$folder/flink" apache-flink-libraries==2.3.0
cat > "$folder/Batch.java" <<'JAVA'
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

public class Batch {
    static StreamExecutionEnvironment job() {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setRuntimeMode(RuntimeExecutionMode.BATCH);
        env.fromSource(
                        new NumberSequenceSource(0, 9),
                        WatermarkStrategy.noWatermarks(),
                        "numbers")
                .rebalance()
                .sinkTo(new DiscardingSink<>())
                .name("sink");
        return env;
    }

    public static void main(String[] args) {
        System.out.println(job().getExecutionPlan());
        System.out.println("PROCESSORS " + Runtime.getRuntime().availableProcessors());
        job().getStreamGraph()
                .getJobGraph()
                .getVertices()
                .forEach(each -> System.out.println("VERTEX " + each.getParallelism()));
    }
}
JAVA
javac -nowarn -d "$folder" -cp "$folder/flink/pyflink/lib/*" "$folder/Batch.java"
java --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED \
    -cp "$folder:$folder/flink/pyflink/lib/*" Batch > "$folder/out" 2> "$folder/errors" ||
    { cat "$folder/errors" >&2; exit 1; }
python3 - "$folder/out" <<'PYTHON'
import json
import sys

text = open(sys.argv[1]).read()
plan, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
rows = [line.split() for line in text.splitlines()]
(processors,) = [int(row[1]) for row in rows if row[:1] == ["PROCESSORS"]]
vertices = [int(row[1]) for row in rows if row[:1] == ["VERTEX"]]
stated = [each["parallelism"] for each in plan["nodes"]]
print(f"getExecutionPlan: {stated.count(processors)} of {len(stated)} operators without a "
      f"parallelism of their own have {processors}, the processors")
print(f"job graph: {vertices.count(-1)} of {len(vertices)} vertices have -1")
assert set(stated) == {processors} and set(vertices) == {-1}, "this has changed"
PYTHON
