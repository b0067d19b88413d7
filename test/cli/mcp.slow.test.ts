import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test } from 'vitest'
import { PLAIN_ENV, run } from '../package/run.ts'
import { freePort } from '../support/free-port.ts'
import { temporaryDirectory } from './in-process.ts'

/** The folder of a project that depends on the built package. */
function project(): string {
  const folder = temporaryDirectory()
  for (const name of ['agent-workspace-emulator', 'vitest', '.bin/vitest']) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(name === 'agent-workspace-emulator' ? resolve('.') : resolve('node_modules', name), link)
  }
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  return folder
}

/** The built command, with a client on its stdin and stdout. */
async function spawned(cwd: string, port: number, ...flags: readonly string[]) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [resolve('dist/cli.js'), 'mcp', ...flags],
    cwd,
    env: { ...(PLAIN_ENV as Record<string, string>), WORKSPACE_EMULATOR_PORT: String(port) },
    stderr: 'pipe',
  })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  onTestFinished(() => client.close())
  const call = async (name: string, given: Readonly<Record<string, unknown>> = {}) => {
    const { content, isError = false } = await client.callTool({ name, arguments: { ...given } })
    return { text: content.map((each) => (each.type === 'text' ? each.text : '')).join('\n'), isError }
  }
  return { client, call }
}

test('a client finds out why a request failed, and gets a test that passes', async () => {
  const folder = project()
  const port = await freePort()
  const { call } = await spawned(folder, port)
  const status = await call('status')
  expect(status.text).toContain(`http://127.0.0.1:${port}/v1`)
  expect(status.text).toContain('inside this MCP server')
  await call('arm_fault', { preset: 'retry-after-garbage', match: { operation: 'pages.create' } })
  const response = await fetch(`http://127.0.0.1:${port}/v1/pages`, {
    method: 'POST',
    headers: { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' },
    body: '{"name": "Roof plan"}',
  })
  expect(response.status).toBe(429)
  const requests = await call('list_requests', { status: '4xx' })
  const why = await call('why_did_this_fail')
  const [, code = ''] = /```ts\n([\s\S]*?)\n```/.exec(why.text) ?? []
  writeFileSync(join(folder, 'repeated.test.ts'), code)
  const ran = await run(folder, 'npx', ['vitest', 'run', '--root', '.', '--testTimeout=120000'], {
    NO_COLOR: '1',
  })
  expect(requests.text).toContain('rate_limit_exceeded')
  expect(why.text).toContain('The smallest fault that repeats it')
  expect(ran.code, `${why.text}\n${ran.out}${ran.err}`).toBe(0)
  expect(ran.out).toMatch(/1 passed/)
})

test('with --url and no emulator there, each tool says so, and how to get one', async () => {
  const port = await freePort()
  const { call } = await spawned(temporaryDirectory(), port, '--url', `http://127.0.0.1:${port}`)
  const { text, isError } = await call('status')
  expect(isError).toBe(true)
  expect(text).toBe(
    `Nothing listens at http://127.0.0.1:${port}. Start an emulator with "workspace-emulator start", or give the address of another one with --url.`,
  )
})

// The client of the SDK skips lines that are not JSON, so this test reads stdout by itself.
test('only the protocol is on stdout, also when a scenario writes to the console', async () => {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'scenarios'))
  const scenario = `console.log('of the console')
process.stdout.write('of the stream\\n')
export default { description: 'writes to stdout' }
`
  writeFileSync(join(folder, 'scenarios', 'loud.js'), scenario)
  const env = { ...PLAIN_ENV, WORKSPACE_EMULATOR_PORT: String(await freePort()) }
  const child = spawn(process.execPath, [resolve('dist/cli.js'), 'mcp'], { cwd: folder, env })
  onTestFinished(() => void child.kill('SIGKILL'))
  const closed = once(child, 'close')
  let errors = ''
  child.stderr.on('data', (text) => {
    errors += text
  })
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const clientInfo = { name: 'test', version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  send({ id: 1, method: 'initialize', params })
  send({ method: 'notifications/initialized' })
  send({ id: 2, method: 'tools/call', params: { name: 'status', arguments: {} } })
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) {
    lines.push(line)
    if (line.includes('"id":2')) child.stdin.end()
  }
  await closed
  expect(lines.filter((line) => !line.startsWith('{'))).toEqual([])
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { jsonrpc: '2.0', id: 1 },
    { jsonrpc: '2.0', id: 2, result: { content: [{ text: expect.stringContaining('loud') }] } },
  ])
  expect(errors).toContain('of the console\nof the stream')
})

test('a message of more than 10 MB gets an error, and the server goes on', async () => {
  const { client, call } = await spawned(project(), await freePort())
  const errors: Error[] = []
  client.onerror = (error) => void errors.push(error)
  const { transport } = client
  const id = { jsonrpc: '2.0', id: 99, method: 'tools/call' } as const
  await transport?.send({ ...id, params: { name: 'status', arguments: { text: 'x'.repeat(10_000_000) } } })
  expect((await call('status')).text).toContain('inside this MCP server')
  expect(String(errors[0])).toContain('at most 10000000 bytes')
})
