import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { command } from './in-process.ts'
import { running, START } from './running.ts'

/** An address without a server. */
const silentUrl = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`

async function unrouted(): Promise<string> {
  const server = createServer((_req, res) => res.end('<html>hello</html>')).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('status shows version and clock', async () => {
  const { url } = await running()
  const { code, out } = await command(['status', '--url', url])
  expect(code).toBe(0)
  expect(out.replace(/version \S+,/, 'version V,')).toBe(
    `${url}: version V, contract 0.1.1\n  clock  ${START}, frozen\n  next   nothing is due`,
  )
})

test('status --json prints one line of data', async () => {
  const { url } = await running()
  const { out } = await command(['status', '--url', url, '--json'])
  expect(JSON.parse(out)).toMatchObject({ url, sandbox: null, status: 'ok', clock: { now: START, rate: 0 } })
})

test('clock advance moves the clock, clock shows it, reset sets it back', async () => {
  const { url } = await running()
  const advanced = await command(['clock', 'advance', '24h', '--url', url])
  expect(advanced).toEqual({ code: 0, out: `${START} to 2026-03-02T12:00:00.000Z`, err: '' })
  expect((await command(['clock', '--url', url])).out).toBe(
    '2026-03-02T12:00:00.000Z, frozen\nnext: nothing is due',
  )
  expect(await command(['reset', '--url', url])).toEqual({
    code: 0,
    out: `The sandbox of ${url} has its starting state again.`,
    err: '',
  })
  const { out } = await command(['clock', '--url', url, '--json'])
  expect(JSON.parse(out).now).toBe(START)
})

test('flags of clock also apply to its subcommand', async () => {
  const { url } = await running()
  const { out } = await command(['clock', '--json', '--url', url, 'advance', 'PT1H'])
  expect(JSON.parse(out)).toMatchObject({ from: START, to: '2026-03-01T13:00:00.000Z', events: [] })
})

test('the address can come from the environment, also as the address of the API', async () => {
  const { url } = await running()
  const { code } = await command(['clock'], { WORKSPACE_EMULATOR_URL: `${url}/v1` })
  expect(code).toBe(0)
})

test('a refusal is reported with its fix', async () => {
  const { url } = await running()
  const { code, err } = await command(['clock', 'advance', '9999999d', '--url', url])
  expect(code).toBe(1)
  expect(err).toContain('is after the last instant that the clock supports')
})

test('the error for an address without a server describes how to start an emulator', async () => {
  const url = await silentUrl()
  expect(await command(['status', '--url', url])).toEqual({
    code: 1,
    out: '',
    err: `Nothing listens at ${url}. Start an emulator with "workspace-emulator start", or give the address of another one with --url.`,
  })
})

test('the error for another program reports that it is no emulator', async () => {
  const url = await unrouted()
  const { code, err } = await command(['status', '--url', url])
  expect([code, err]).toEqual([
    1,
    `${url} responds, but is not a workspace emulator (GET /__emulator/health: 200). Give the address of an emulator with --url.`,
  ])
})

test('a control token is required, checked and accepted', async () => {
  const { url } = await running({ controlToken: 'canary-token' })
  const fix =
    'Give the token that it was started with or printed: --control-token or WORKSPACE_EMULATOR_CONTROL_TOKEN.'
  expect((await command(['clock', '--url', url])).err).toBe(`${url} requires a control token. ${fix}`)
  expect((await command(['clock', '--url', url, '--control-token', 'wrong'])).err).toBe(
    `${url} does not accept this control token. ${fix}`,
  )
  const { code } = await command(['clock', '--url', url], {
    WORKSPACE_EMULATOR_CONTROL_TOKEN: 'canary-token',
  })
  expect(code).toBe(0)
})
