import { expect, test } from 'vitest'
import { styledFinding } from '../../src/terminal/conduct-commands.ts'
import { rendered } from '../../src/terminal/print.ts'
import { execClient } from './in-process.ts'
import { running } from './running.ts'

test('conduct prints the findings, and --fail-on decides the exit code', async () => {
  const { api, run, data } = await running({ fixtures: 'demo' })
  await run('faults', 'add', 'rate-limited')
  for (let n = 0; n < 2; n++) await api('/pages', { name: 'Roof plan' }, { 'idempotency-key': 'one' })
  const { code, out } = await run('conduct')
  expect(code).toBe(0)
  expect(out).toMatch(
    /^2 requests in 1 call: \d errors?.*\nerror wait\.\S+: .*\n {2}requests default-000001, default-000002\n {2}\S/,
  )
  expect((await run('conduct', '--fail-on', 'error')).code).toBe(1)
  const { data: findings } = await data('conduct')
  const except = findings.flatMap((finding: { code: string }) => ['--except', finding.code])
  expect((await run('conduct', '--fail-on', 'warning', ...except)).code).toBe(0)
})

const exec = (flags: readonly string[], times: number) => {
  const script = `
    await control('POST', '/@w1/__emulator/faults', { preset: 'rate-limited' })
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'one' }
    const page = { sandbox: 'w1', method: 'POST', headers, body: '{"name":"Roof plan"}' }
    for (let n = 0; n < ${times}; n++) await api('/pages', page)
    await control('DELETE', '/__emulator/sandboxes/w1')`
  return execClient(['--rate', '0', ...flags], script)
}

test.for([
  [2, 1, /Conduct of the clients: \d errors?\.\n@w1 error wait\.\S+: /],
  [1, 0, /Conduct of the clients: no/],
] as const)('%i attempts in a deleted sandbox end exec with %i', async ([times, expected, report]) => {
  const { code, err } = await exec(['--conduct', 'error'], times)
  expect([code, err]).toEqual([expected, expect.stringMatching(report)])
})

test('the summary of exec has the findings, and without --conduct the run does not fail', async () => {
  const { code, err } = await exec(['--json'], 2)
  expect(code).toBe(0)
  const { conduct } = JSON.parse(err.trim().split('\n').at(-1) ?? '')
  expect(conduct.findings[0]).toMatchObject({ sandbox: 'w1', severity: 'error' })
})

test('the severity of a finding has its colour, and its first ten requests are named', async () => {
  const finding = { code: 'wait.none', message: 'It did not wait.', section: 'Limits', fix: 'Wait.' }
  const requests = Array.from({ length: 12 }, (_, n) => `r-${n}`)
  const lines = styledFinding({ ...finding, severity: 'warning', requests, evidence: {} })
  expect(lines.map((line) => rendered(line, { colours: true }))).toEqual([
    '\u001b[33mwarning\u001b[39m wait.none: It did not wait.',
    '  requests r-0, r-1, r-2, r-3, r-4, r-5, r-6, r-7, r-8, r-9 and 2 more',
    '  Wait.',
  ])
})
