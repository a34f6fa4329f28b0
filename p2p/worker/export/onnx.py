"""Format `onnx`: one graph, observation -> action, written without torch."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

import p2p
from p2p.store.files import replacing
from p2p.store.policy import EPSILON, Floats, NumpyPolicy

INPUT = "observation"
OUTPUT = "action"
OPSET = 17
IR_VERSION = 8
"""Of 2022: every runtime since then reads them."""
FUNCTIONS = {"relu": "Relu", "tanh": "Tanh"}


def save_onnx(policy: NumpyPolicy, metadata: Mapping[str, str], path: Path) -> None:
    """Write a policy as an ONNX graph; normalisation and clipping are inside, the number of rows is free."""
    graph = _Graph()
    hidden = graph.node("Cast", INPUT, to=onnx.TensorProto.DOUBLE)  # and so up to the action, as in NumpyPolicy.act
    hidden = graph.node("Sub", hidden, graph.constant("mean", policy.mean))
    hidden = graph.node("Div", hidden, graph.constant("deviation", np.sqrt(policy.variance + EPSILON)))
    if policy.normalizes:
        hidden = graph.node("Max", hidden, graph.constant("clip_low", np.array(-policy.clip)))
        hidden = graph.node("Min", hidden, graph.constant("clip_high", np.array(policy.clip)))
    for i, (weight, bias) in enumerate(zip(policy.weights, policy.biases, strict=True)):
        if i:
            hidden = graph.node(FUNCTIONS[policy.activation], hidden)
        hidden = graph.node("Gemm", hidden, graph.widened(f"weight_{i}", weight), graph.widened(f"bias_{i}", bias))
    hidden = graph.node("Cast", hidden, to=onnx.TensorProto.FLOAT)
    hidden = graph.node("Max", hidden, graph.constant("action_low", policy.low))
    graph.node("Min", hidden, graph.constant("action_high", policy.high), result=OUTPUT)
    model = graph.model(obs_dim=len(policy.mean), action_dim=len(policy.low))
    helper.set_model_props(model, dict(metadata))
    onnx.checker.check_model(model, full_check=True)
    with replacing(path) as temporary:
        temporary.write_bytes(model.SerializeToString())


class _Graph:
    """Graph nodes in order of computation, each with one output."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """Add an array; returns its name."""
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def widened(self, name: str, value: Floats) -> str:
        """Add an array that is kept as float32 and computed with as float64; returns the name to compute with."""
        return self.node("Cast", self.constant(name, value), to=onnx.TensorProto.DOUBLE)

    def node(self, operator: str, *inputs: str, result: str = "", **attributes: Any) -> str:
        """Add an operator; returns the name of what it computes."""
        result = result or f"{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [result], **attributes))
        return result

    def model(self, obs_dim: int, action_dim: int) -> onnx.ModelProto:
        """Finished model with input and output shapes."""
        graph = helper.make_graph(
            self._nodes,
            "policy",
            [helper.make_tensor_value_info(INPUT, onnx.TensorProto.FLOAT, ["batch", obs_dim])],
            [helper.make_tensor_value_info(OUTPUT, onnx.TensorProto.FLOAT, ["batch", action_dim])],
            self._constants,
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="p2p",
            producer_version=p2p.__version__,
        )
