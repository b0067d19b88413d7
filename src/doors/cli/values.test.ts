import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allowTargets } from '../webhooks/targets.ts'
import { UsageError } from './usage.ts'
import * as values from './values.ts'
import { BadValue } from './values.ts'

test.for([
  ['port', values.port, '0', 0],
  ['port', values.port, '65535', 65_535],
  ['seed', values.seed, '9007199254740991', Number.MAX_SAFE_INTEGER],
  ['rate', values.rate, '0.5', 0.5],
  ['rate', values.rate, '100000', 100_000],
  ['instant', values.instant, '2026-03-01', '2026-03-01T00:00:00.000Z'],
  ['instant', values.instant, '2026-03-01T12:00:00+02:00', '2026-03-01T10:00:00.000Z'],
  ['duration', values.duration, '1.5s', 1500],
  ['duration', values.duration, 'PT1M', 60_000],
  ['bind address', values.bindAddress, '[::1]', '::1'],
  ['bind address', values.bindAddress, 'fe80::1%eth0', 'fe80::1%eth0'],
  ['bind address', values.bindAddress, 'localhost', 'localhost'],
  ['host header', values.hostHeader, 'api.test:8080', 'api.test:8080'],
  ['host header', values.hostHeader, '::1', '::1'],
  ['origin', values.origin, 'https://app.example:8443', 'https://app.example:8443'],
  ['origin', values.origin, '*', '*'],
  ['emulator', values.emulatorUrl, 'http://127.0.0.1:4010/', 'http://127.0.0.1:4010'],
  ['emulator', values.emulatorUrl, 'http://127.0.0.1:4010/v1', 'http://127.0.0.1:4010'],
  ['emulator', values.emulatorUrl, 'http://h/@w3/__emulator/', 'http://h/@w3'],
  ['receiver', values.target, 'receiver.test:8080', 'receiver.test:8080'],
  ['receiver', values.target, '[fd00::5]:65535', '[fd00::5]:65535'],
  ['sandbox', values.sandboxName, 'w3-a', 'w3-a'],
  ['count', values.count, '10', 10],
  ['share', values.share, '0.25', 0.25],
  ['share', values.share, '1', 1],
  ['share', values.share, '.5', 0.5],
] as const)('%s: reads %3$s', ([, parse, text, value]) => {
  expect(parse(text)).toBe(value)
})

test.for([
  ['port', values.port, '65536'],
  ['port', values.port, '1.5'],
  ['port', values.port, ' 1'],
  ['port', values.port, '0x10'],
  ['seed', values.seed, '9007199254740992'],
  ['seed', values.seed, '-1'],
  ['rate', values.rate, '100000.1'],
  ['rate', values.rate, 'Infinity'],
  ['rate', values.rate, '1e3'],
  ['instant', values.instant, '2026-02-30'],
  ['instant', values.instant, 'now'],
  ['duration', values.duration, '10'],
  ['duration', values.duration, '1y'],
  ['bind address', values.bindAddress, 'http://localhost'],
  ['bind address', values.bindAddress, 'localhost:80'],
  ['host header', values.hostHeader, 'http://api'],
  ['host header', values.hostHeader, 'a b'],
  ['origin', values.origin, 'app.example'],
  ['origin', values.origin, 'https://app.example/'],
  ['token', values.token, 'two words'],
  ['token', values.token, 'é'],
  ['emulator', values.emulatorUrl, '127.0.0.1:4010'],
  ['emulator', values.emulatorUrl, 'ftp://h'],
  ['on or off', values.onOff, 'yes'],
  ['receiver', values.target, 'receiver.test'],
  ['receiver', values.target, 'receiver.test:0'],
  ['receiver', values.target, 'receiver.test:65536'],
  ['receiver', values.target, 'http://receiver.test:80'],
  ['receiver', values.target, '[fd00::5:80'],
  ['receiver', values.target, 'user@receiver.test:80'],
  ['receiver', values.target, 'fd00::5:80'],
  ['sandbox', values.sandboxName, '-w3'],
  ['sandbox', values.sandboxName, 'W3'],
  ['count', values.count, '0'],
  ['count', values.count, '1.5'],
  ['share', values.share, '1.5'],
  ['share', values.share, '-0.1'],
  ['share', values.share, '.'],
] as const)('%s: refuses %3$s and says what to give', ([, parse, text]) => {
  expect(() => parse(text)).toThrow(BadValue)
  expect(() => parse(text)).toThrow(/ Give .+\.$/)
})

test('no text makes a parser fail in another way than by refusing it', () => {
  const parsers = [
    values.port,
    values.rate,
    values.instant,
    values.duration,
    values.origin,
    values.emulatorUrl,
  ]
  fc.assert(
    fc.property(fc.constantFrom(...parsers), fc.string(), (parse, text) => {
      try {
        parse(text)
      } catch (error) {
        expect(error).toBeInstanceOf(BadValue)
      }
    }),
  )
})

test('every receiver that is read is one that webhooks can be allowed to go to', () => {
  const host = fc.oneof(
    fc.domain(),
    fc.ipV4(),
    fc.ipV6().map((address) => `[${address}]`),
    fc.string(),
  )
  fc.assert(
    fc.property(host, fc.integer({ min: 0, max: 70_000 }), (name, port) => {
      const text = `${name}:${port}`
      const isRead = canBe(() => values.target(text))
      if (isRead) expect(canBe(() => allowTargets([text]))).toBe(true)
    }),
  )
  expect(canBe(() => values.target('receiver.test:80'))).toBe(true)
})

function canBe(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}

test('an argument that cannot be read is misuse and says which one it is', () => {
  expect(() => values.argument('name', values.sandboxName, 'W3')).toThrow(UsageError)
  expect(() => values.argument('name', values.sandboxName, 'W3')).toThrow(/^<name>: "W3" is not a name\./)
})
