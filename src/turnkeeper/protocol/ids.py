"""Names of things, so that one cannot be passed for another."""

from typing import NewType

WorkspaceId = NewType("WorkspaceId", str)
ClientId = NewType("ClientId", str)
SessionId = NewType("SessionId", str)
RunId = NewType("RunId", str)
MessageId = NewType("MessageId", str)
RequestId = NewType("RequestId", str)
ToolCallId = NewType("ToolCallId", str)

Position = NewType("Position", int)
"""A place in a workspace's log. The first event stands at 1; 0 is before everything."""

START = Position(0)
NO_CLIENT = ClientId("")
NO_MESSAGE = MessageId("")
WORKSPACE = SessionId("")
"""What an event of the workspace itself carries where others carry their session."""
