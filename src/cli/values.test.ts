import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allowTargets } from '../adapters/webhooks/targets.ts'
import { BadValue } from '../emulator/option.ts'
import { kinds, SHARED, START_OPTIONS } from '../terminal/options.ts'

const options = { ...START_OPTIONS, ...SHARED, steps: kinds.count }

test.for([
  ['port', '0', 0],
  ['port', '65535', 65_535],
  ['seed', '9007199254740991', Number.MAX_SAFE_INTEGER],
  ['rate', '0.5', 0.5],
  ['rate', '100000', 100_000],
  ['clock', '2026-03-01', '2026-03-01T00:00:00.000Z'],
  ['clock', '2026-03-01T12:00:00+02:00', '2026-03-01T10:00:00.000Z'],
  ['timeout', '1.5s', 1500],
  ['timeout', 'PT1M', 60_000],
  ['host', '[::1]', '::1'],
  ['host', 'fe80::1%eth0', 'fe80::1%eth0'],
  ['host', 'localhost', 'localhost'],
  ['allowHosts', 'api.test:8080', 'api.test:8080'],
  ['allowHosts', '::1', '::1'],
  ['corsOrigins', 'https://app.example:8443', 'https://app.example:8443'],
  ['corsOrigins', '*', '*'],
  ['controlOrigins', 'http://localhost:5173', 'http://localhost:5173'],
  ['url', 'http://127.0.0.1:4010/', 'http://127.0.0.1:4010'],
  ['url', 'http://127.0.0.1:4010/v1', 'http://127.0.0.1:4010'],
  ['url', 'http://h/@w3/__emulator/', 'http://h/@w3'],
  ['allowWebhooks', 'receiver.test:8080', 'receiver.test:8080'],
  ['allowWebhooks', '[fd00::5]:65535', '[fd00::5]:65535'],
  ['sandbox', 'w3-a', 'w3-a'],
  ['steps', '10', 10],
] as const)('%s: reads %2$s', ([name, text, value]) => {
  expect(options[name].parse(text)).toBe(value)
})

test.for([
  ['port', ['65536', '1.5', ' 1', '0x10']],
  ['seed', ['9007199254740992', '-1']],
  ['rate', ['100000.1', 'Infinity', '1e3']],
  ['clock', ['2026-02-30', 'now']],
  ['timeout', ['10', '1y']],
  ['host', ['http://localhost', 'localhost:80']],
  ['allowHosts', ['http://api', 'a b']],
  ['corsOrigins', ['app.example', 'https://app.example/']],
  ['controlOrigins', ['*', 'null', 'http://localhost:5173/']],
  ['controlToken', ['two words', 'é']],
  ['url', ['127.0.0.1:4010', 'ftp://h']],
  ['limits', ['yes']],
  ['allowWebhooks', ['receiver.test', 'receiver.test:0', 'receiver.test:65536', 'http://receiver.test:80']],
  ['allowWebhooks', ['[fd00::5:80', 'user@receiver.test:80', 'fd00::5:80']],
  ['sandbox', ['-w3', 'W3']],
  ['steps', ['0', '1.5']],
] as const)('%s: refuses each of %j and says what to give', ([name, texts]) => {
  const { parse } = options[name]
  for (const text of texts) {
    expect(() => parse(text), text).toThrow(BadValue)
    expect(() => parse(text), text).toThrow(/ Give .+\.$/)
  }
})

test('a parser accepts a text or throws BadValue', () => {
  const { port, rate, clock, timeout, corsOrigins, url } = options
  const parsed = fc.constantFrom(port, rate, clock, timeout, corsOrigins, url)
  fc.assert(fc.property(parsed, fc.string(), ({ parse }, text) => void canBe(() => parse(text))))
})

test('the emulator accepts every receiver that --allow-webhook accepts', () => {
  const ipv6 = fc.ipV6().map((address) => `[${address}]`)
  const host = fc.oneof(fc.domain(), fc.ipV4(), ipv6, fc.string())
  fc.assert(
    fc.property(host, fc.integer({ min: 0, max: 70_000 }), (name, port) => {
      const text = `${name}:${port}`
      if (canBe(() => options.allowWebhooks.parse(text))) allowTargets([text])
    }),
  )
})

/** Whether a value is accepted. Another error than {@link BadValue} is a defect. */
function canBe(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(BadValue)
    return false
  }
}
