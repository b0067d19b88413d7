import { expect, test } from 'vitest'
import {
  ALLOWED_ENTRIES,
  ALLOWED_TARGETS,
  asAddress,
  OWN_PORT,
  REFUSED_TARGETS,
  resolveTarget,
  USELESS_ENTRIES,
} from '../../../test/support/webhook-targets.ts'
import { allowTargets, reachOf, Targets } from './targets.ts'

function targets(allowed: readonly string[] = [], resolved: string[] = []): Targets {
  return new Targets({
    allowed: allowTargets(allowed),
    forbiddenPorts: () => [OWN_PORT],
    resolve: (name) => {
      resolved.push(name)
      return resolveTarget(name)
    },
  })
}

test.for(ALLOWED_TARGETS)('X3 %j is allowed at the checked addresses', async ([url, addresses, port]) => {
  const decision = await targets(ALLOWED_ENTRIES).judge(url)
  expect(decision).toMatchObject({ port, addresses: addresses.map(asAddress) })
})

test.for(REFUSED_TARGETS)('X3 %j is refused', async ([url, reason]) => {
  const decision = await targets([...ALLOWED_ENTRIES, ...USELESS_ENTRIES]).judge(url)
  expect(decision).toEqual({ refused: expect.stringContaining(reason) })
})

test('a URL is checked without a DNS lookup before it is subscribed', () => {
  const resolved: string[] = []
  const some = targets([...ALLOWED_ENTRIES, ...USELESS_ENTRIES], resolved)
  const isNamed = (url: string) => url.includes('.example') && URL.canParse(url)
  const isEntry = (url: string) => [...ALLOWED_ENTRIES, ...USELESS_ENTRIES].includes(new URL(url).host)
  for (const [url] of ALLOWED_TARGETS) {
    if (isNamed(url) && !isEntry(url)) expect(some.problemOf(url), url).toContain('--allow-webhook')
    else expect(some.problemOf(url), url).toBeUndefined()
  }
  for (const [url, reason] of REFUSED_TARGETS) {
    if (!isNamed(url) || reason.startsWith('must')) expect(some.problemOf(url), url).toContain(reason)
    else if (isEntry(url)) expect(some.problemOf(url), url).toBeUndefined()
    else expect(some.problemOf(url), url).toContain('--allow-webhook')
  }
  expect(some.problemOf(`http://hook.localhost.:${OWN_PORT}/`)).toContain('belongs to the emulator')
  expect(resolved).toEqual([])
})

test('X3 a name is looked up once for each check, and an IP address never', async () => {
  const resolved: string[] = []
  const all = targets([], resolved)
  await all.judge('http://mine.example:9000/')
  await all.judge('http://127.0.0.1:9000/')
  await all.judge('http://mine.example:9000/')
  expect(resolved).toEqual(['mine.example', 'mine.example'])
})

test('a name without an address is rejected with ENOTFOUND', async () => {
  await expect(targets().judge('http://none.example/')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  await expect(targets().judge('http://unknown.example/')).rejects.toMatchObject({ code: 'ENOTFOUND' })
})

test('the refusal contains the flag that allows exactly this target', async () => {
  const { refused } = (await targets().judge('http://receiver.example/hook')) as { refused: string }
  expect(refused).toBe(
    'receiver.example resolves to 172.18.0.5, which is not on this machine; start the emulator with --allow-webhook receiver.example:80 to allow it',
  )
  const [, entry = ''] = /--allow-webhook (\S+)/.exec(refused) ?? []
  expect(await targets([entry]).judge('http://receiver.example/hook')).toMatchObject({ port: 80 })
})

test('allowed targets are parsed like hosts of URLs, and a malformed one is refused with an example', () => {
  expect([...allowTargets(['Receiver.Example:8080', '[FD00::5]:08080', '0xa.5:80'])]).toEqual([
    'receiver.example:8080',
    '[fd00::5]:8080',
    '10.0.0.5:80',
  ])
  // The last one is empty.
  const wrong = 'receiver|receiver:|receiver:99999|http://receiver:80|a@b:80|a:80/x|fd00::5|*:80 |'
  for (const entry of wrong.split('|'))
    expect(() => allowTargets([entry]), entry).toThrow(/such as `receiver:8080`/)
})

test('the zone of an address is ignored', () => {
  const reached = ['fe80::1%eth0', '::1%lo', 'fd00::1%2'].map(reachOf)
  expect(reached).toEqual(['forbidden', 'loopback', 'other'])
})
