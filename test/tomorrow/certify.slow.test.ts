import { expect, test } from 'vitest'
import type { Finding } from '../../src/core/conduct/finding.ts'
import { findingsFrom } from '../../src/core/conduct/finding-lines.ts'
import { TOMORROW_KINDS } from '../../src/core/tomorrow.ts'
import { command } from '../cli/in-process.ts'

/** The results of the cases of a client, with the codes of its errors and warnings. */
async function results(script: string, flags: readonly string[] = []): Promise<Record<string, string>> {
  const run = ['certify', '--json', '--run', 'tomorrow/*', ...flags, '--']
  const { out } = await command([...run, process.execPath, '--input-type=module', '-e', script], {
    PATH: process.env.PATH ?? '',
  })
  const { cases } = JSON.parse(out) as {
    cases: { case: string; result: string; findings: readonly Finding[] }[]
  }
  return Object.fromEntries(
    cases.map(({ case: name, result, findings }) => {
      const codes = findingsFrom(findings, 'warning').map(({ code }) => code)
      return [name.replace('tomorrow/', ''), [result, ...codes].join(' ')]
    }),
  )
}

const PASSED = Object.fromEntries(TOMORROW_KINDS.map((kind) => [kind, 'passed']))
const EVOLVE = 'failed evolve.unknown-value'

/** Creates a page and reads users, with a check of each response. */
const program = (check: string) => `
  const { WORKSPACE_BASE_URL: base, WORKSPACE_API_KEY: key } = process.env
  const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
  const users = '/organization/teamspaces/teamspace-harbor/users'
  for (const [path, init] of [['/pages', { method: 'POST', body: '{"name":"Plan"}' }], [users, {}]]) {
    const response = await fetch(base + path, { headers, ...init })
    const body = await response.json()
    ${check}
  }`

test('at level A, a client that ignores what it does not know passes, and none meets a webhook', async () => {
  expect(await results(program(''))).toEqual({ ...PASSED, event: 'not_reached' })
})

test('at level A, a client that ends because of something new has a finding', async () => {
  const strict = program(`
    const role = body.data?.[0].permissions.role ?? 'owner'
    if ('next_generation' in body || !['owner', 'admin', 'author', 'member'].includes(role)) process.exit(1)
    if (body.id?.length > 24 || response.headers.has('x-next')) process.exit(1)
    if (!['object', 'id'].includes(Object.keys(body)[0])) process.exit(1)`)
  const kinds = Object.fromEntries(TOMORROW_KINDS.map((kind) => [kind, EVOLVE]))
  expect(await results(strict)).toEqual({ ...kinds, event: 'not_reached' })
})

test('at level A, a client that fails for another reason has no finding', async () => {
  const failing = program('if (response.ok) await fetch(base + "/none"); process.exit(1)')
  expect(await results(failing)).toEqual({ ...PASSED, event: 'not_reached' })
})

/** An adapter. `refuses`: when it answers a command with an error. */
const adapter = (refuses: string) => `
  import { createInterface } from 'node:readline'
  const { WORKSPACE_BASE_URL: base, WORKSPACE_API_KEY: key } = process.env
  const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
  const send = async (path, init) => {
    const response = await fetch(base + path, { headers, ...init })
    return { body: await response.json(), response }
  }
  const users = async (path, after = '') => {
    const { body, response } = await send(path + after)
    const more = body.has_more ? await users(path, '&after=' + body.data.at(-1).id) : { body: [] }
    return { body: [...body.data, ...more.body], page: body, response }
  }
  const calls = {
    create_batch: (c) => send('/batch-predictions', { method: 'POST', body: JSON.stringify(c.body) }),
    get: (c) => send('/batch-predictions/' + c.batch_id),
    list_all: (c) => users('/organization/teamspaces/' + c.teamspace_id + '/users?limit=' + c.limit),
    verify_webhook: (c) => ({ body: true, event: c.headers['X-Emulator-Event'] }),
  }
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line)
    const { body, page = body, response, event } = await calls[command.command](command)
    const isRefused = ${refuses}
    console.log(JSON.stringify(isRefused ? { error: { kind: 'malformed', status: response?.status } } : { ok: body }))
  }`

test('at level B, an adapter that ignores what it does not know passes', async () => {
  expect(await results(adapter('false'), ['--adapter'])).toEqual(PASSED)
})

test('at level B, an error because of something new has a finding', async () => {
  const refuses = `event !== undefined || JSON.stringify(body).includes('next_generation') || body.id?.length > 24
    || response?.headers.has('x-next') || Object.keys(page)[0] === 'results_url'`
  const kinds = Object.fromEntries(TOMORROW_KINDS.map((kind) => [kind, EVOLVE]))
  expect(await results(adapter(refuses), ['--adapter'])).toEqual(kinds)
})
