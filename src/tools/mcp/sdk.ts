// The build makes one file of these: dist/mcp-sdk.js, which only the command mcp loads.
export { McpServer } from '@modelcontextprotocol/server'
export { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
