"""Reads a page of metrics from stdin with the parser of Prometheus' own client and prints its samples as JSON."""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families

families = {}
for family in text_string_to_metric_families(sys.stdin.read()):
    assert family.name not in families, f"{family.name} is there twice"
    assert family.documentation, f"{family.name} has no help"
    samples = [[sample.name, sample.labels, sample.value] for sample in family.samples]
    families[family.name] = {"type": family.type, "samples": samples}
json.dump(families, sys.stdout)
