#!/usr/bin/env python3
"""A whole executor on standard input and output, standard library only: spec/EXECUTOR.md.

What stands for its model obeys fixture messages (`cx: call echo {"a":1}`); put your own in `Turn.step`.
"""
import json
import re
import sys
import threading
import uuid
from datetime import datetime, timezone

DESCRIPTOR = {
    "name": "minimal_py",
    "description": "Does what fixture messages say.",
    "executor": "minimal",
    "capabilities": ["streaming", "host_tool_execution", "steer"],
    "ownTools": [],
    "requiredTools": [],
    "subAgents": [],
}
out = threading.Lock()  # one frame at a time
sessions = {}


class Refusal(Exception):
    def __init__(self, status, code, message):
        super().__init__(message)
        self.data = {"status": status, "code": code}


def write(**frame):
    with out:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **frame}) + "\n")
        sys.stdout.flush()


def new_id():
    return str(uuid.uuid4())


def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def text_of(content):
    return "".join(part.get("text", "") for part in content)


def failed(kind):
    return {"content": [{"type": "text", "text": kind}], "isError": True, "errorType": kind}


TYPES = {"string": str, "boolean": bool, "integer": int, "number": (int, float), "object": dict, "array": list}


def fits(args, schema):
    """Flat arguments; for more take a library for JSON Schema."""
    kinds = {key: TYPES.get(each.get("type"), object) for key, each in schema.get("properties", {}).items()}
    return all(key in args for key in schema.get("required", [])) and all(
        isinstance(value, kinds.get(key, object)) for key, value in args.items()
    )


def steps_of(text):
    """The lines of each step; calls end one."""
    steps = []
    for line in (line for line in text.split("\n") if line.startswith("cx: ")):
        after_calls = steps and steps[-1][-1].startswith("cx: call") and not line.startswith("cx: call")
        if not steps or after_calls:
            steps.append([])
        steps[-1].append(line)
    return steps


class Session:
    def __init__(self):
        self.lock = threading.RLock()
        self.said = []  # what the user has said, oldest first
        self.asked = set()  # ids of all calls there ever were
        self.calls = []  # of the step at hand
        self.steps, self.at = [], 0
        self.turn_id = ""
        self.over, self.greeted = True, False
        self.aborted = threading.Event()
        self.idle = threading.Event()
        self.idle.set()

    def answer(self, request_id, result):
        with self.lock:
            if request_id not in self.asked:
                raise Refusal("FAILED_PRECONDITION", "E_UNKNOWN_REQUEST", f"no request {request_id}")
            for call in self.calls:
                if call["id"] == request_id and call["result"] is None:
                    call["result"] = result
                    return {"status": "settled"}
            return {"status": "already_settled"}

    def begin(self, inputs):
        """Takes the input or refuses it; returns the calls that it cancels."""
        with self.lock:
            if not self.idle.is_set():
                raise Refusal("ABORTED", "E_SESSION_BUSY", "a stream runs; wait for its end or abort it")
            cancelled = []
            for item in inputs:
                if item["kind"] == "tool_result":
                    self.answer(item["requestId"], item["result"])
                if item["kind"] == "message":
                    cancelled, self.turn_id = self.calls, new_id()
                    self.said.append(text_of(item["content"]))
                    self.steps, self.at, self.calls, self.over = steps_of(self.said[-1]), 0, [], False
                elif self.over:
                    raise Refusal("FAILED_PRECONDITION", "E_TURN_COMPLETED", "no turn is open")
            self.aborted.clear()
            self.idle.clear()
            return cancelled

    def abort(self):
        self.aborted.set()
        self.idle.wait()
        with self.lock:
            self.over, self.calls = True, []
        return {}


def stream(request, sessionId, streamId, input, options):
    session = sessions[sessionId]
    cancelled = session.begin(input)
    base = {"sessionId": sessionId, "streamId": streamId, "turnId": session.turn_id, "agentId": "minimal_py"}
    tools = {tool["name"]: tool for tool in options.get("tools", [])}

    def show(kind, **more):
        event = {"id": new_id(), "type": kind, "timestamp": now(), **base, **more}
        write(method="event", params={"sessionId": sessionId, "streamId": streamId, "event": event})

    def end(reason, **data):
        with session.lock:
            session.over = reason != "input_required"
            if session.over:
                session.calls = []
            session.idle.set()  # before the event: whoever sees it may begin the next stream
        show("stream_end", reason=reason, data={"usage": {}, "steps": session.at, **data})

    write(id=request, result={})
    if not session.greeted:
        session.greeted = True
        show("initialize", interfaceVersion="1.0")
    for call in cancelled:
        show("tool_response", requestId=call["id"], name=call["name"], **failed("cancelled"))
    while True:
        waiting = [call for call in session.calls if call["result"] is None]
        if waiting:
            return end("input_required", pending=[pending_of(base, call) for call in waiting])
        done, session.calls = session.calls, []
        for call in done:
            show("tool_response", requestId=call["id"], name=call["name"], **call["result"])
        results = "\n".join(f"{call['name']} -> {text_of(call['result']['content'])}" for call in done)
        step = session.steps[session.at] if session.at < len(session.steps) else [f"cx: say {results}"]
        session.at += 1
        text, calls = "", []
        for line in step:
            verb, rest = re.match(r"cx: (\w+) ?(.*)", line, re.DOTALL).groups()
            if verb == "say":
                text += rest
            elif verb == "words":
                text = "".join(f"w{index} " for index in range(int(rest)))
            elif verb == "recall":
                text = json.dumps(session.said)
            elif verb == "call":
                name, _, args = rest.partition(" ")
                calls.append({"id": new_id(), "name": name, "args": json.loads(args or "{}"), "result": None})
            elif verb == "wait":
                session.aborted.wait(int(rest) / 1000 if rest else None)
            elif verb == "fail":
                show("error", status="UNAVAILABLE", code="E_MODEL", message=rest, fatal=True, retryable=True)
                return end("failed")
        message_id = new_id()
        for delta in re.findall(r"\S+\s*", text) if options.get("streaming", True) else []:
            if session.aborted.is_set():
                break
            part = {"type": "text", "text": delta}
            show("message", role="agent", content=[part], partial=True, _meta={"messageId": message_id, "part": 0})
        if session.aborted.is_set():
            return end("aborted")
        if text:
            part = {"type": "text", "text": text}
            show("message", role="agent", content=[part], _meta={"messageId": message_id})
        for call in calls:
            session.asked.add(call["id"])
            show("tool_request", requestId=call["id"], name=call["name"], args=call["args"], handledBy="host")
            if call["name"] not in tools:
                call["result"] = failed("not_found")
            elif not fits(call["args"], tools[call["name"]].get("inputSchema", {})):
                call["result"] = failed("invalid_args")
        session.calls = calls
        if not calls:
            return end("completed")


def pending_of(base, call):
    of_call = {"requestId": call["id"], "callId": call["id"], "name": call["name"], "args": call["args"]}
    place = {"kind": "tool", "handledBy": "host", "started": False, "path": "", "agentPath": ["minimal_py"]}
    return {**base, **of_call, **place, "requestedAt": now()}


def open_session(ref=None):
    session_id = new_id()
    sessions[session_id] = Session()
    return {"sessionId": session_id}


def respond(sessionId, requestId, answer):
    result = answer["result"] if answer["kind"] == "result" else failed("denied")
    return sessions[sessionId].answer(requestId, result)


def steer(sessionId, data):
    session = sessions[sessionId]
    with session.lock:
        session.said.append(text_of(data["content"]))
        return {"steerId": new_id(), "disposition": "next_turn" if session.over else "current_turn"}


METHODS = {
    "initialize": lambda **_: {"protocolVersion": "1.0", "descriptor": DESCRIPTOR},
    "open": open_session,
    "respond": respond,
    "steer": steer,
    "abort": lambda sessionId, **_: sessions[sessionId].abort(),
}


def handle(frame):
    request, method, params = frame["id"], frame["method"], frame["params"]
    try:
        if method == "stream":
            stream(request, **params)
        elif method in METHODS:
            write(id=request, result=METHODS[method](**params))
        else:
            write(id=request, error={"code": -32601, "message": f"no method {method}"})
    except Refusal as refusal:
        write(id=request, error={"code": -32000, "message": str(refusal), "data": refusal.data})
    except Exception as error:  # a fault of this program: say so instead of hanging
        data = {"status": "INTERNAL", "code": "E_INTERNAL"}
        write(id=request, error={"code": -32603, "message": repr(error), "data": data})


# Bytes, split at \n only: other ends of lines may stand in the text of a message.
for line in sys.stdin.buffer:
    frame = json.loads(line)
    if frame["method"] in ("stream", "abort"):  # these take time
        threading.Thread(target=handle, args=(frame,), daemon=True).start()
    else:
        handle(frame)
