"""tinygrad on the CUDA driver that is there: arithmetic, reductions, a matrix product, a convolution and a training step, checked
against NumPy or by their own gradients."""
import os

os.environ["DEV"] = "CUDA"
import numpy as np
from tinygrad import Context, Device, Tensor, nn

assert Device.DEFAULT == "CUDA", Device.DEFAULT
Tensor.manual_seed(1)


def arithmetic():
    a, b = Tensor.rand(1000), Tensor.rand(1000)
    np.testing.assert_allclose((a * b + a.exp().sin()).numpy(), a.numpy() * b.numpy() + np.sin(np.exp(a.numpy())), rtol=1e-4)


def reductions():
    a = Tensor.randn(33, 257)
    np.testing.assert_allclose(a.sum(1).numpy(), a.numpy().astype("f8").sum(1), rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(a.argmax(1).numpy(), a.numpy().argmax(1))
    e = np.exp(a.numpy() - a.numpy().max(1, keepdims=True))
    np.testing.assert_allclose(a.softmax(1).numpy(), e / e.sum(1, keepdims=True), rtol=1e-4, atol=1e-6)


def matmul():
    a, b = Tensor.rand(96, 64), Tensor.rand(64, 80)
    np.testing.assert_allclose((a @ b).numpy(), a.numpy().astype("f8") @ b.numpy().astype("f8"), rtol=1e-4)


def convolution():
    x, w = Tensor.rand(1, 3, 12, 12), Tensor.rand(4, 3, 3, 3)
    got = x.conv2d(w).numpy()
    windows = np.lib.stride_tricks.sliding_window_view(x.numpy().astype("f8"), (3, 3), (2, 3))
    np.testing.assert_allclose(got, np.einsum("bcijxy,ocxy->boij", windows, w.numpy().astype("f8")), rtol=1e-4)


def training():
    class Net:
        def __init__(self):
            self.first, self.second = nn.Linear(16, 32), nn.Linear(32, 4)

        def __call__(self, x):
            return self.second(self.first(x).relu())

    net, x, y = Net(), Tensor.randn(64, 16), Tensor.randint(64, low=0, high=4)
    optimizer = nn.optim.SGD(nn.state.get_parameters(net), lr=0.1)
    losses = []
    with Context(TRAINING=1):
        for _ in range(4):
            optimizer.zero_grad()
            loss = net(x).sparse_categorical_crossentropy(y).backward()
            optimizer.step()
            losses.append(loss.item())
    assert losses == sorted(losses, reverse=True), losses


for test in (arithmetic, reductions, matmul, convolution, training):
    test()
    print("tinygrad: %s ok" % test.__name__, flush=True)
