import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Environment } from '../../src/terminal/options.ts'
import { command, execClient, temporaryDirectory, temporaryFile } from './in-process.ts'
import { running } from './running.ts'

const exec = (flags: readonly string[], path: string, env: Environment = {}) =>
  execClient(flags, `api(${JSON.stringify(path)}).then((each) => each.text())`, env)

const counting = () => running({ fixtures: 'demo', countCoverage: true })

test('coverage prints the counts of each kind, and how to meet the cheapest points', async () => {
  const { api, run } = await counting()
  await api('/data-views')
  const { code, out } = await run('coverage')
  expect(code).toBe(0)
  expect(out).toMatch(/^Coverage: \d+ of \d+ points of the contract \(\d[\d.]* %\)\.\nKIND +MET +POINTS\n/)
  expect(out).toMatch(/\nstatus +1 +\d+\n/)
  expect(out).toMatch(/Not met, the cheapest first:\n {2}status \S+ 20\d\n {4}\w+ \/v1\//)
  expect(out.split('\n').length).toBeLessThanOrEqual(40)
})

test('--fail-under ends with 1 below the percentage, and with 0 at it', async () => {
  const { api, run, data } = await counting()
  await api('/data-views')
  const { total, met } = await data('coverage')
  const under = (percentage: number) => run('coverage', '--fail-under', String(percentage))
  const low = await under(99)
  expect([low.code, low.err]).toEqual([1, expect.stringMatching(/have met \d[\d.]* %, less than 99 %\.$/)])
  expect((await under((100 * met) / total - 0.01)).code).toBe(0)
  expect((await under(101)).err).toContain('is not a percentage. Give a number from 0 to 100.')
})

test('exec --coverage writes a file, and later runs add to it', async () => {
  const file = join(temporaryDirectory(), 'coverage.json')
  const first = await exec(['--coverage', file], '/data-views')
  expect(first.code).toBe(0)
  expect(first.err).toMatch(/Coverage: \d+ of .*See: workspace-emulator coverage .*coverage\.json$/)
  await exec(['--coverage', file], '/organization/mcp-servers')
  const { data } = JSON.parse(readFileSync(file, 'utf8'))
  const met = data.flatMap(({ id, met }: { id: string; met: string | null }) => (met === null ? [] : [id]))
  expect(met).toEqual(expect.arrayContaining(['status data-views.list 200', 'status mcp-servers.list 200']))
  const { code, out } = await command(['coverage', file])
  expect(code).toBe(0)
  expect(out).toContain(`Coverage: ${met.length} of ${data.length} points`)
})

test('coverage adds the files of several jobs', async () => {
  const shard = (...all: readonly (string | null)[]) => {
    const data = all.map((met, n) => ({ kind: 'status', how: 'GET /v1/a', id: String(n), met }))
    return temporaryFile('shard.json', JSON.stringify({ data }))
  }
  const files = [shard('fault', null, null), shard('service', 'fault', null)]
  const { code, out } = await command(['coverage', ...files, '--fail-under', '60', '--json'])
  expect([code, JSON.parse(out)]).toMatchObject([0, { total: 3, met: 2, met_by_faults: 1 }])
})

test('the summary of exec has the counts and the gaps, in JSON and in Markdown', async () => {
  const file = join(temporaryDirectory(), 'coverage.json')
  const page = join(temporaryDirectory(), 'summary.md')
  const { err } = await exec(['--json', '--coverage', file], '/data-views', { GITHUB_STEP_SUMMARY: page })
  const { coverage } = JSON.parse(err.split('\n').at(-1) ?? '')
  expect(coverage).toMatchObject({ total: expect.any(Number), met: expect.any(Number), met_by_faults: 0 })
  expect(coverage.gaps).toHaveLength(10)
  const table = /\*\*Contract coverage: \d[\d.]* %\*\*.*\n\n\| not met \| how to meet it \|/
  expect(readFileSync(page, 'utf8')).toMatch(table)
})

test('a file that is no coverage stops exec before the command runs, and stays as it is', async () => {
  const file = temporaryFile('coverage.json', '{"data": [{"id": 5}]}')
  const { code, err } = await exec(['--coverage', file], '/data-views')
  expect(code).toBe(1)
  expect(err).toMatch(
    /json is not a file of exec --coverage: \/data\/0\/id .*Give another file, or remove it\./,
  )
  expect(readFileSync(file, 'utf8')).toBe('{"data": [{"id": 5}]}')
})

test('a file in a folder that does not exist is reported after the run', async () => {
  const file = join(temporaryDirectory(), 'missing', 'coverage.json')
  const { code, err } = await exec(['--coverage', file], '/data-views')
  expect([code, existsSync(file)]).toEqual([1, false])
  expect(err).toMatch(/cannot be written \(ENOENT\)\. Give the path of a file in an existing directory\./)
})
