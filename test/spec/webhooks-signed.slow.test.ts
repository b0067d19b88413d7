import { execFileSync } from 'node:child_process'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { createBatch } from '../support/batches.ts'
import { pass, webhookEmulator } from '../support/webhook-emulator.ts'
import type { Received } from '../support/webhook-receiver.ts'

const SECRETS = Array.from({ length: 4 }, (_, n) => `whsec_${Buffer.alloc(32, n + 1).toString('base64')}`)
const BATCHES = 150

/** Reads lines of `[secret, signed text, signature]` as JSON, and prints how many are valid. */
const PYTHON = `
import hashlib, hmac, json, sys
rows = [json.loads(line) for line in sys.stdin]
print(sum(hmac.compare_digest(hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest(), given) for key, text, given in rows))
`

const validInPython = (rows: readonly (readonly string[])[]) =>
  Number(
    execFileSync('python3', ['-c', PYTHON], { input: rows.map((each) => JSON.stringify(each)).join('\n') }),
  )

/** Sends 250 webhooks or more: every third batch is refused once, and every fourth has a broken signature. */
async function sentUnder(
  settings: object,
  kinds: readonly string[],
  beforeBatch?: (n: number, control: Control) => Promise<unknown>,
) {
  const refused = new Set<string>()
  const { emulator, receiver } = await webhookEmulator(
    ({ text }) => {
      const { id } = JSON.parse(text) as { id: string }
      const isFirst = Number.parseInt(id.slice(-6), 16) % 3 === 0 && !refused.has(id)
      refused.add(id)
      return isFirst ? 503 : 200
    },
    { settings: { ...settings, 'webhooks.retry': ['1s'] } },
  )
  await emulator.control('PATCH', '/webhooks/hook', { secret: SECRETS[0] })
  const broken = new Set<string>()
  for (let n = 0; n < BATCHES; n++) {
    await beforeBatch?.(n, emulator.control)
    const sign = kinds[(n / 4) % kinds.length]
    if (n % 4 === 0)
      await emulator.control('POST', '/faults', {
        ...{ id: 'f', match: { webhook: '*' } },
        do: [{ deliver: { sign, copies: 3 } }],
      })
    const { id } = await createBatch(emulator, { items: 1 })
    if (n % 4 === 0) broken.add(id)
    await pass(emulator, '1m')
    await emulator.control('DELETE', '/faults')
  }
  const isBroken = ({ text }: Received) => broken.has((JSON.parse(text) as { id: string }).id)
  expect(receiver.received.length).toBeGreaterThan(250)
  return {
    valid: receiver.received.filter((each) => !isBroken(each)),
    broken: receiver.received.filter(isBroken),
  }
}

type Control = (method: string, path: string, body?: unknown) => Promise<unknown>

test('a library of Standard Webhooks verifies every delivery, retries and rotations included, and none of the broken ones', async () => {
  const settings = { 'webhooks.scheme': 'standard', 'webhooks.timestamp': 'real' }
  const { valid, broken } = await sentUnder(settings, ['wrong', 'old'], async (n, control) => {
    const secret = SECRETS[Math.floor(n / 40)]
    if (n > 0 && n % 40 === 0) await control('POST', '/webhooks/hook/rotate', { secret, overlap: '10m' })
  })
  const fits = ({ text, headers }: Received) =>
    SECRETS.some((each) => {
      try {
        return Boolean(new Webhook(each).verify(text, headers as Record<string, string>))
      } catch {
        return false
      }
    })
  expect(valid.filter((each) => !fits(each))).toEqual([])
  expect(broken.filter(fits)).toEqual([])
  const signatures = valid.map(({ headers }) => String(headers['webhook-signature']).split(' ').length)
  expect(new Set(signatures)).toEqual(new Set([1, 2]))
})

test("Python's hmac verifies every delivery of the default scheme, and none of the broken ones", async () => {
  const settings = {
    'webhooks.signature': { header: 'X-Sign', secret: 'general', timestamp_header: 'X-Time' },
  }
  const { valid, broken } = await sentUnder(settings, ['wrong'])
  const rowOf = ({ text, headers }: Received) => [
    SECRETS[0] ?? '',
    `${headers['x-time']}.${text}`,
    String(headers['x-sign']),
  ]
  expect(validInPython(valid.map(rowOf))).toBe(valid.length)
  expect(broken.length).toBeGreaterThan(100)
  expect(validInPython(broken.map(rowOf))).toBe(0)
})
