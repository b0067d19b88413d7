import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { boundedLines } from '../../src/tools/mcp/mcp.ts'
import { mcpServer } from '../../src/tools/mcp/server.ts'
import { running } from './running.ts'

async function connected({ readOnly = false } = {}) {
  const { api, url } = await running({ fixtures: 'demo' })
  const server = mcpServer({ readOnly, find: async () => ({ url, isOwn: false }) })
  const client = new Client({ name: 'test', version: '1' })
  const [own, other] = InMemoryTransport.createLinkedPair()
  await server.connect(other)
  await client.connect(own)
  onTestFinished(() => client.close())
  const call = async (name: string, given: Readonly<Record<string, unknown>> = {}) => {
    const { content, isError = false } = await client.callTool({ name, arguments: { ...given } })
    return { text: content.map((each) => (each.type === 'text' ? each.text : '')).join('\n'), isError }
  }
  return { client, call, api, url }
}

const FENCED = /```ts\n([\s\S]*?)\n```/

test('there are at most fifteen tools, each with a description and with hints', async () => {
  const { client } = await connected()
  const { tools } = await client.listTools()
  expect(tools.length).toBeLessThanOrEqual(15)
  for (const { description, annotations } of tools) {
    expect(description?.length).toBeGreaterThan(20)
    const hint = expect.any(Boolean)
    expect(annotations).toMatchObject({ readOnlyHint: hint, destructiveHint: hint })
  }
})

test('with --read-only there are only the tools that change nothing', async () => {
  const { client, call } = await connected({ readOnly: true })
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name).join(' ')).toBe(
    'status list_requests explain_request why_did_this_fail describe_api read_state list_faults check_conduct',
  )
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
  await expect(call('reset_sandbox')).rejects.toThrow('not found')
})

test('every tool works', async () => {
  const { call, api } = await connected()
  await api('/pages', { name: 'Roof plan' })
  const calls: readonly (readonly [string, object, RegExp])[] = [
    ['status', {}, /user live_demo_owner, member live_demo_member, service service_demo/],
    ['list_requests', { status: '2xx', limit: 1 }, /200|201/],
    ['explain_request', { request_id: 'default-000001' }, /POST \/v1\/pages was completed/],
    ['describe_api', {}, /pages\.create/],
    ['describe_api', { operation: 'pages.create' }, /"method": "post"/],
    ['read_state', {}, /pages/],
    ['read_state', { collection: 'pages', limit: 1 }, /"id"/],
    ['read_state', { collection: 'pages', id: 'page-handbook' }, /"page-handbook"/],
    ['arm_fault', { preset: 'rate-limited', match: { operation: 'pages.create' } }, /"rate-limited"/],
    ['list_faults', {}, /rate-limited/],
    ['clear_faults', {}, /rate-limited/],
    ['check_conduct', {}, /1 request/],
    ['advance_clock', { by: '1h' }, /T13:00/],
    ['snapshot', { action: 'save', name: 'before' }, /before/],
    ['write_record', { collection: 'organizations', record: { id: 'o2', name: 'Other' } }, /"o2"/],
    ['snapshot', { action: 'restore', name: 'before' }, /before/],
    ['start_scenario', { name: 'happy-path' }, /happy-path/],
    ['start_scenario', {}, /happy-path/],
    ['reset_sandbox', {}, /./],
    ['read_state', { sandbox: 'default', collection: 'organizations' }, /records/],
  ]
  for (const [name, given, pattern] of calls) {
    const { text, isError } = await call(name, { ...given })
    expect(isError, `${name}: ${text}`).toBe(false)
    expect(text, name).toMatch(pattern)
  }
})

test('read_state has the records in pages', async () => {
  const { call } = await connected()
  const ids = async (given: object) => {
    const { text } = await call('read_state', { collection: 'pages', ...given })
    const [head = '', ...rest] = text.split('\n')
    return [head, ...(JSON.parse(rest.join('\n')) as { id: string }[]).map(({ id }) => id)]
  }
  const [, ...all] = await ids({ limit: 1_000 })
  expect(await ids({ limit: 1, offset: 1 })).toEqual([`${all.length} records; 1 from offset 1:`, all[1]])
})

test.for([
  ['arm_fault', { preset: 'rate-limitd' }, /\/preset.*rate-limited/s],
  ['advance_clock', { by: '1h', to: 'never' }, /\/to|exactly one/],
  ['list_requests', { limit: 0 }, /^The arguments of list_requests are not valid: \/limit must be at /],
  ['list_requests', { operatoin: 'x' }, /\/operatoin is not a known field\. Did you mean "operation"\?/],
  ['explain_request', { request_id: 'x' }, /list_requests/],
  ['why_did_this_fail', {}, /None of the 0 newest requests .* has failed\. Send the request first/],
  ['describe_api', { operation: 'x' }, /describe_api without an operation lists them/],
  ['read_state', { collection: 'pages', id: '\ud800' }, /half of a surrogate pair/],
] as const)('an error of %s %o names the way out, without a stack', async ([name, given, pattern]) => {
  const { call } = await connected()
  const { text, isError } = await call(name, given)
  expect(isError, text).toBe(true)
  expect(text).toMatch(pattern)
  expect(text).not.toMatch(/\n\s+at |defect/)
})

test('the pages of the documentation are resources', async () => {
  const { client } = await connected()
  const { resources } = await client.listResources()
  const faults = resources.find(({ name }) => name === 'docs/guide/faults.md')
  expect(faults).toMatchObject({ title: 'Faults', mimeType: 'text/markdown' })
  const { contents } = await client.readResource({ uri: faults?.uri ?? '' })
  expect(contents[0]).toMatchObject({ text: expect.stringMatching(/^# Faults\n/) })
})

const OF_CREATE = '"match":{"operation":"pages.create"}'

test.for([
  ['a preset', { preset: 'rate-limited' }, `{"preset":"rate-limited",${OF_CREATE}}`],
  ['a body that is cut', { preset: 'truncated-json' }, `{"preset":"truncated-json",${OF_CREATE}}`],
  ['a reset connection', { preset: 'rst-before-headers' }, `{"preset":"rst-before-headers",${OF_CREATE}}`],
  [
    'actions of a rule',
    { match: 'everything', do: [{ respond: { status: 418 } }] },
    `{${OF_CREATE},"do":[{"respond":{"status":418}}]}`,
  ],
] as const)('a failure by %s is explained, and repeated by a test', async ([, rule, fault]) => {
  const { call, api, url } = await connected()
  // Not every action of a rule fits the short form of the tool.
  const headers = { 'content-type': 'application/json' }
  await fetch(`${url}/__emulator/faults`, { method: 'POST', headers, body: JSON.stringify(rule) })
  await api('/pages', { name: 'Roof plan' }).catch(() => {})
  const { text } = await call('why_did_this_fail')
  expect(text).toContain(`The smallest fault that repeats it, as arm_fault takes it:\n${fault}\n`)
  expect(FENCED.exec(text)?.[1]).toContain(`sandbox.fetch("/pages", {`)
})

test.for([
  ['a wrong body', { name: 7 }, {}],
  ['an unknown key', { name: 'Roof plan' }, { authorization: 'Bearer live_unknown' }],
] as const)('the request alone repeats a failure by %s', async ([, json, headers]) => {
  const { call, api } = await connected()
  await api('/pages', json, headers)
  const { text } = await call('why_did_this_fail')
  expect(text).toContain('The request alone repeats it')
  expect(FENCED.exec(text)?.[1]).toContain(`sandbox.fetch("/pages", {`)
})

test('a line that is too long is dropped with an error, and the lines around it are read', async () => {
  let errors = 0
  const lines = boundedLines(() => {
    errors += 1
  }, 10)
  const chunks = ['short\n123456', '7890123456789', '\nécht\nrest', '\n']
  for (const chunk of chunks) lines.write(chunk)
  lines.end()
  let read = ''
  for await (const line of lines) read += line
  expect([read, errors]).toEqual(['short\nécht\nrest\n', 1])
})
