import { expect, test } from 'vitest'
import { command, nodeClient } from './in-process.ts'

const PATH = process.env.PATH ?? ''

/** Runs `certify --adapter --json` in this process. @returns the exit code, and the first code or the reason of each case */
async function certify(pattern: string, ...adapter: readonly string[]) {
  const flags = ['--adapter', '--json', '--retries', '0', '--run', pattern]
  const { code, out, err } = await command(['certify', ...flags, '--', ...adapter], { PATH })
  const { cases = [] } = out === '' ? {} : JSON.parse(out)
  // biome-ignore lint/suspicious/noExplicitAny: the assertions are the types.
  const shown: string[] = cases.map(({ case: name, result, reason, findings }: any) =>
    // What else was found about a client that passed is not the fact that a test is about.
    [name, result, ...(result === 'passed' ? [] : [reason ?? findings[0]?.code])].join(' '),
  )
  return { code, err, shown }
}

/** An adapter that answers each command with the value of an expression. */
function answering(expression: string): string[] {
  const script = `
    require('readline').createInterface({ input: process.stdin }).on('line', async (line) => {
      const { command, ...given } = JSON.parse(line)
      console.log(JSON.stringify(await (async () => (${expression}))()))
    })`
  return nodeClient(script)
}

test('the adapter of fetch passes one case of every class but webhooks', async () => {
  const pattern =
    '{read/slow,list/page-empty-has-more,poll/unknown-enum,stream/ndjson-utf8-split,create-*/server-error,action/server-error}'
  const { code, shown } = await certify(pattern, process.execPath, 'test/certify/fetch.mjs')
  expect([code, shown]).toEqual([0, Array.from({ length: 7 }, () => expect.stringMatching(/ passed$/))])
})

test('a stream that ended early is a success for that adapter, and fails', async () => {
  const { code, shown } = await certify('stream/*-at-newline', process.execPath, 'test/certify/fetch.mjs')
  expect(code).toBe(1)
  expect(shown).toEqual(['stream/ndjson-truncated-at-newline failed stream.truncation-accepted'])
})

test('the signature of a webhook can be verified with the documented rule', async () => {
  const verify = (isFresh: string) =>
    answering(`{
      ok: given.headers['X-Signature'] === 'sha256=' + require('crypto').createHmac('sha256', given.secret)
        .update(given.headers['X-Timestamp'] + '.' + given.body).digest('hex') && ${isFresh},
    }`)
  const fresh = "given.now_s - given.headers['X-Timestamp'] <= given.tolerance_s"
  const correct = await certify('webhook/*', ...verify(fresh))
  expect([correct.code, correct.shown.length]).toEqual([0, 3])
  const careless = await certify('webhook/*', ...verify('true'))
  expect(careless.code).toBe(1)
  expect(careless.shown.at(-1)).toBe('webhook/stale-signature failed webhook.misjudged')
})

test('a command that the adapter does not support is not reached', async () => {
  const { code, shown } = await certify('list/server-error', ...answering('{ unsupported: true }'))
  expect(code).toBe(2)
  expect(shown).toEqual(['list/server-error not_reached The adapter does not support list_all.'])
})

test('an adapter that ends instead of answering fails', async () => {
  const { code, shown } = await certify('list/server-error', 'true')
  expect([code, shown]).toEqual([1, ['list/server-error failed client.ended']])
})

test.for(['hello', { error: { kind: 'odd' } }, {}])('the answer %j ends the run', async (answer) => {
  const line = typeof answer === 'string' ? answer : JSON.stringify(answer)
  const adapter = nodeClient(`console.log(${JSON.stringify(line)})`)
  const { code, err } = await certify('list/server-error', ...adapter)
  expect([code, err]).toEqual([1, expect.stringContaining('which is not an answer')])
})

test.for(['malformed', 'unknown', 'server', 'timeout'])('a cursor loop named %s passes', async (kind) => {
  const careful = answering(`await (async () => {
      const seen = new Set()
      for (let after = ''; ; ) {
        const path = '/organization/teamspaces/' + given.teamspace_id + '/users?limit=' + given.limit + after
        const { data, has_more } = await (await api(path)).json()
        if (!has_more) return { ok: data }
        after = '&after=' + data.at(-1).id
        if (seen.has(after)) return { error: { kind: '${kind}', message: 'the cursor came twice' } }
        seen.add(after)
      }
    })()`)
  const { code, shown } = await certify('list/page-cursor-{repeated,cycle}', ...careful)
  expect([code, shown.length]).toEqual([0, 2])
})
