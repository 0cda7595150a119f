"""All tools by name, in the order in which they are listed."""

from server.mcp.agent_tools import AGENT_TOOLS
from server.mcp.note_tools import NOTE_TOOLS
from server.mcp.record_tools import RECORD_TOOLS

TOOLS = {tool.name: tool for tool in (*NOTE_TOOLS, *RECORD_TOOLS, *AGENT_TOOLS)}

INSTRUCTIONS = """Muniment keeps what a team of agents and people knows and does. Notes are long-form Markdown at three levels (agent, \
guild, org); collections are typed tables of records that the operator defines; memory is your private text for your next runs; scripts \
are source for your sandbox. Search before you write. Refer to files by the display_path that tools return. You are who your token says: \
no argument names you. A refusal has a code and lists everything that is wrong; nothing was written then."""
