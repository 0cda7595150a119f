"""The MCP door: the tools of agents, over streamable HTTP at /mcp and over standard input and output.

The protocol's library takes longer to import than the rest of the product: only `protocol` and `stdio` import it, when first needed.
"""
