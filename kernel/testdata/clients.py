"""Real clients (jupyter_client, pyzmq) against the echo kernel "under-test": a line "name: result" for each check."""

import time

import zmq
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager
from jupyter_client.session import Session
from zmq.utils.monitor import recv_monitor_message

km = KernelManager(kernel_name="under-test")
context = zmq.Context.instance()


def say(name, result):
    print(f"{name}: {result}", flush=True)


def client():
    kc = BlockingKernelClient(connection_file=km.connection_file)
    kc.load_connection_file()
    kc.start_channels()
    return kc


def reply(kc, msg_id, timeout=20):
    while True:
        m = kc.get_shell_msg(timeout=timeout)
        if m["parent_header"].get("msg_id") == msg_id:
            return m


def status(kc, code, **options):
    return reply(kc, kc.execute(code, **options))["content"]["status"]


def output(kc, msg_id):
    got = []
    while True:
        m = kc.get_iopub_msg(timeout=20)
        if m["parent_header"].get("msg_id") != msg_id:
            continue
        got.append(m["msg_type"])
        if m["msg_type"] == "status" and m["content"]["execution_state"] == "idle":
            return got


def slow_joiners():
    """Fresh kernels get their first cell at once, while the sockets are still connecting."""
    full = 0
    for _ in range(8):
        one = KernelManager(kernel_name="under-test")
        one.start_kernel()
        kc = one.client()
        kc.start_channels()
        full += output(kc, kc.execute("hello")) == ["status", "execute_input", "stream", "status"]
        kc.stop_channels()
        one.shutdown_kernel(now=True)
    say("slow joiners that got everything", full)


def main():
    slow_joiners()
    km.start_kernel()
    kc = km.client()
    kc.start_channels()
    kc.wait_for_ready(timeout=20)
    say("ready", status(kc, "hello"))

    other = client()
    other.wait_for_ready(timeout=20)
    ids = [(c, c.execute("hello")) for _ in range(200) for c in (kc, other)]
    say("two clients, 400 requests", {reply(c, i)["content"]["status"] for c, i in ids})
    other.execute("lines 50000")
    other.stop_channels()
    say("a client that leaves while its cell prints", status(kc, "hello"))

    text = "z" * (50 << 20)
    msg_id = kc.execute("display " + text)
    say("50 MB in", reply(kc, msg_id, 60)["content"]["status"])
    say("50 MB echoed", output(kc, msg_id))

    dealer = context.socket(zmq.DEALER)
    dealer.linger = 0
    dealer.setsockopt(zmq.HEARTBEAT_IVL, 200)
    dealer.setsockopt(zmq.HEARTBEAT_TIMEOUT, 600)
    monitor = dealer.get_monitor_socket()
    dealer.connect(f"tcp://127.0.0.1:{km.get_connection_info()['shell_port']}")
    time.sleep(1.5)
    events = []
    while monitor.poll(50):
        events.append(recv_monitor_message(monitor)["event"].name)
    Session(key=km.session.key).send(dealer, "kernel_info_request", {})
    say("libzmq's heartbeats: disconnects", events.count("DISCONNECTED"))
    say("libzmq's heartbeats: reply", bool(dealer.poll(5000)))
    dealer.disable_monitor()
    dealer.close(0)
    kc.hb_channel.unpause()
    time.sleep(1.2)
    say("Jupyter's heartbeat", kc.hb_channel.is_beating())

    msg_id = kc.execute("sleep 60000")
    time.sleep(0.3)
    km.interrupt_kernel()
    say("interrupt", reply(kc, msg_id)["content"]["ename"])

    msg_id = kc.execute("input name?", allow_stdin=True)
    question = kc.get_stdin_msg(timeout=20)
    kc.input("zed")
    say("input", (question["content"]["prompt"], reply(kc, msg_id)["content"]["status"]))

    start = time.time()
    km.restart_kernel()
    kc.wait_for_ready(timeout=20)
    say("restart", (status(kc, "hello"), time.time() - start < 5))

    start = time.time()
    km.shutdown_kernel()
    say("shutdown within 2 s", time.time() - start < 2)


main()
