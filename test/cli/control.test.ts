import { expect, test } from 'vitest'
import { fakeServer } from './fake-control.ts'
import { command } from './in-process.ts'
import { running, START } from './running.ts'

test('status shows version and clock, with --json as one line of data', async () => {
  const { url, run, data } = await running()
  const { code, out } = await run('status')
  expect(code).toBe(0)
  expect(out.replace(/version \S+,/, 'version V,')).toBe(
    `${url}: version V, contract 0.1.1\n  clock  ${START}, frozen\n  next   nothing is due`,
  )
  const clock = { now: START, rate: 0 }
  expect(await data('status')).toMatchObject({ url, sandbox: null, status: 'ok', clock })
})

test('clock advance moves the clock, clock rate changes its speed, and reset sets it back', async () => {
  const { url, run, data } = await running()
  const advanced = await run('clock', 'advance', '24h')
  expect(advanced).toEqual({ code: 0, out: `${START} to 2026-03-02T12:00:00.000Z`, err: '' })
  expect((await run('clock')).out).toBe('2026-03-02T12:00:00.000Z, frozen\nnext: nothing is due')
  expect((await run('clock', 'rate', '60')).out).toMatch(/^2026-03-02T12:00:00\.\d+Z, rate 60\n/)
  expect((await run('reset')).out).toBe(`The sandbox of ${url} has its starting state again.`)
  expect(await data('clock')).toMatchObject({ now: START, rate: 0 })
})

test('flags of clock also apply to its subcommand', async () => {
  const { url } = await running()
  const { out } = await command(['clock', '--json', '--url', url, 'advance', 'PT1H'])
  expect(JSON.parse(out)).toMatchObject({ from: START, to: '2026-03-01T13:00:00.000Z', events: [] })
})

const OTHERS = ['<html>hello</html>', '{"status":"ok"}', '[]', '']

test.for(OTHERS)('a server that responds with %j to everything is no emulator', async (body) => {
  const { url } = await fakeServer(body)
  for (const words of ['status', 'requests', 'clock', 'faults list']) {
    const { code, err } = await command([...words.split(' '), '--url', url])
    expect([words, code, err]).toEqual([words, 1, expect.stringContaining(`${url} responds, but is not a`)])
    expect(err).toMatch(/: 200\)\. Give the address of an emulator with --url\.$/)
  }
})

test('a control token is required, checked and accepted', async () => {
  const { url } = await running({ controlToken: 'canary-token' })
  const fix =
    'Give the token that it was started with or printed: --control-token or WORKSPACE_EMULATOR_CONTROL_TOKEN.'
  expect((await command(['clock', '--url', url])).err).toBe(`${url} requires a control token. ${fix}`)
  expect((await command(['clock', '--url', url, '--control-token', 'wrong'])).err).toBe(
    `${url} does not accept this control token. ${fix}`,
  )
  const env = { WORKSPACE_EMULATOR_CONTROL_TOKEN: 'canary-token' }
  expect((await command(['clock', '--url', url], env)).code).toBe(0)
})
