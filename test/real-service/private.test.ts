import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command, temporaryDirectory } from '../cli/in-process.ts'
import { AT, BASE, type Entry, entryOf, harOf } from './record.ts'

/** 40 secrets, of the forms that keys and tokens have. */
const SECRETS = Array.from({ length: 40 }, (_, n) => {
  const body = `${n}Kq7${'xR9tLw2ZbV'.slice(n % 5)}mP4sD${n}`
  const jwt = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIi${n}.${body}c2ln`
  const key = `sk_live_${body}aB3dE5fG`
  return [key, jwt, `ghp_${body}H7jK9mN2pQ`, `Pw!${body}`, `s%3A${body}.aGVsbG8`][n % 5] as string
})

const PERSONAL = Array.from({ length: 40 }, (_, n) => {
  const phone = `+49 170 555${String(n).padStart(4, '0')}`
  const address = `${n} Harrowgate Lane, Brixworth`
  return [`Zoë Quillfeather-${n}`, `zoe.quill${n}@mail.test`, phone, address][n % 4] as string
})

const [secret, personal] = [(n: number) => SECRETS[n] ?? '', (n: number) => PERSONAL[n] ?? '']

const entry = (method: string, path: string, body: unknown, rest: Parameters<typeof entryOf>[3] = {}) =>
  entryOf(method, path, body, { ...rest, answered: { 'set-cookie': `sid=${secret(0)}; Path=/` } })

const list = (data: readonly unknown[]) => ({ object: 'list', data, has_more: false })

/** Traffic with each of these values in one of the places that they can have. */
function planted(): Entry[] {
  const line = (n: number) => ({
    ...{ object: 'batch_prediction.result', batch_id: 'bp1', custom_id: `item-${n}` },
    ...{ status: 'succeeded', error: null },
    output: {
      signer: personal(n),
      note: `ask ${personal(n + 1)} with ${secret(n)}`,
      [`of ${personal(n + 2)}`]: { token: secret(n + 1) },
    },
  })
  const cookie = `a=${secret(2)}; b=${secret(3)}`
  const headers = { authorization: `Bearer ${secret(1)}`, cookie, 'x-api-key': secret(4) }
  const own = Array.from({ length: 10 }, (_, n) => {
    const signature = `X-Amz-Signature=${encodeURIComponent(secret(n + 5))}`
    return {
      id: `n${n}`,
      by: { name: personal(n), mail: personal(n + 1), role: `for ${personal(n + 2)}` },
      list: [
        personal(n + 3),
        `see https://files.test/${n}?${signature}&of=${encodeURIComponent(personal(n + 4))}`,
      ],
      api_key: secret(n + 15),
      text: `key ${secret(n + 15)}; mail ${personal(n + 5)}; {"password": "${secret(n + 25)}"}`,
    }
  })
  const people = { author: personal(20), role: personal(21), owner_id: personal(22) }
  const batch = {
    ...{ object: 'batch_prediction', id: 'bp1', status: 'completed', model: 'm', completion_window: '24h' },
    ...{ created_at: AT, in_progress_at: AT, finalizing_at: AT, completed_at: AT },
    ...{ expires_at: '2026-02-04T08:00:00.000Z', failed_at: null, expired_at: null },
    ...{ cancelling_at: null, cancelled_at: null, error: null },
    request_counts: { total: 4, processing: 0, succeeded: 4, errored: 0, canceled: 0, expired: 0 },
    metadata: { ...people, access_token: secret(35), status: personal(39) },
    results_url: `/v1/batch-predictions/bp1/results?token=${secret(36)}`,
  }
  const user = (n: number) => ({
    ...{ id: `u${n}`, first_name: personal(n), last_name: personal(n + 4), email: `zoe.quill${n}@mail.test` },
    permissions: { role: 'owner', agent_ids: [] },
  })
  const page = {
    ...{ object: 'page', id: 'p1', name: `${personal(24)} ${secret(37)}`, teamspace_id: 't1' },
    ...{ scope: 'teamspace', created_at: AT },
  }
  const sent = { name: personal(24), client_secret: secret(37), password: secret(38) }
  const lines = [5, 15, 30, 33].map((n) => JSON.stringify(line(n))).join('\n')
  const users = `/organization/teamspaces/t1/users?api_key=${encodeURIComponent(secret(39))}`
  return [
    entry('GET', '/notes', list(own), { headers }),
    entry('GET', '/batch-predictions/bp1', batch),
    entry('GET', '/batch-predictions/bp1/results', lines, { type: 'application/x-ndjson' }),
    entry('POST', '/pages', page, { sent }),
    entry('GET', users, list([1, 5, 9, 25, 29, 33, 37].map(user))),
    entry('GET', '/agents', list(PERSONAL.map((title, n) => ({ id: `a${n}`, title, created_at: AT })))),
  ]
}

async function imported(entries: readonly Entry[], flags: readonly string[] = []) {
  const folder = temporaryDirectory()
  const file = join(temporaryDirectory(), 'traffic.har')
  writeFileSync(file, harOf(entries))
  const [out, settings, data] = ['out.json', 'settings.json', 'data'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const again = () =>
    command(['import', file, '--out', out, '--settings-out', settings, '--data', data, ...flags])
  const { code, err, out: printed } = await again()
  expect([code, err]).toEqual([0, ''])
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  const all = files.map((each) => readFileSync(join(each.parentPath, each.name), 'utf8')).join('\n')
  return { all: `${all}\n${printed}`, again, out, text: readFileSync(out, 'utf8') }
}

const present = (values: readonly string[], text: string) =>
  values.filter((value) =>
    [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)].some((each) =>
      text.includes(each),
    ),
  )

test('40 secrets and 40 personal values of the traffic are in no file that is written, nor on the screen; with --keep-names no secret is', async () => {
  const har = harOf(planted())
  expect([present(SECRETS, har).length, present(PERSONAL, har).length]).toEqual([40, 40])
  const { all, out } = await imported(planted())
  expect([present(SECRETS, all), present(PERSONAL, all)]).toEqual([[], []])
  expect(all).not.toMatch(/Quillfeather|Harrowgate|Brixworth|Zoë/i)
  expect(await command(['validate', out])).toMatchObject({ code: 0 })
  const kept = await imported(planted(), ['--keep-names'])
  expect(present(SECRETS, kept.all)).toEqual([])
  expect(present(PERSONAL, kept.all).length).toBeGreaterThan(30)
  expect(await command(['validate', kept.out])).toMatchObject({ code: 0 })
})

test('equal texts become equal texts of the same form, in a second run too; with another secret they become others', async () => {
  const first = await imported(planted())
  const { collections, own } = JSON.parse(first.text)
  const name = own.notes[5].by.name
  expect(collections.users.map((each: { first_name: string }) => each.first_name)).toContain(name)
  // Another text has the form of the first one: an e-mail address stays one.
  expect(own.notes[0].by).toMatchObject({
    name: expect.stringMatching(/^[A-Z][a-z]{2} [A-Z][a-z]{11}-\d$/),
    mail: expect.stringMatching(/^[a-z]{3}\.[a-z]{5}\d@[a-z]{4}\.example$/),
  })
  await first.again()
  expect(readFileSync(first.out, 'utf8')).toBe(first.text)
  const second = await imported(planted())
  expect(JSON.parse(second.text).own.notes[5].by.name).not.toBe(name)
})

test('an id that is a name or an e-mail address is replaced, and what refers to it still does', async () => {
  const own = ['ada@mail.test', 'Ada Quill'].map((id, n) =>
    entry('GET', `/people?page=${n}`, list([{ id, manager_id: 'ada@mail.test' }])),
  )
  const { people } = JSON.parse((await imported(own, ['--base', BASE])).text).own
  expect(JSON.stringify(people)).not.toMatch(/ada@|Ada Quill/)
  expect(people.map((each: { manager_id: string }) => each.manager_id)).toEqual([people[0].id, people[0].id])
})
