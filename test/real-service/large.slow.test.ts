import { spawnSync } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../cli/in-process.ts'

const BYTES = 254_000_000

/** A HAR file of lists of agents, each agent another record, which is the worst case for memory. */
function largeHar(file: string): number {
  const handle = openSync(file, 'w')
  let size = writeSync(handle, '{"log":{"version":"1.2","entries":[')
  const words = (n: number) =>
    Array.from({ length: 60 }, (_, at) => `word${(n * 31 + at * 7) % 9973}`).join(' ')
  let records = 0
  for (let list = 0; size < BYTES; list++) {
    const data = Array.from({ length: 50 }, () => ({
      id: `a${records++}`,
      title: words(records),
      owner: `ann${records}@x.test`,
    }))
    const text = JSON.stringify({ object: 'list', data, has_more: false })
    const response = {
      status: 200,
      headers: [],
      content: { mimeType: 'application/json', text, size: text.length },
    }
    const request = { method: 'GET', url: `https://api.test/v1/agents?page=${list}`, headers: [] }
    const entry = { startedDateTime: '2026-02-03T08:00:00.000Z', time: 1, request, response }
    size += writeSync(handle, (list > 0 ? ',' : '') + JSON.stringify(entry))
  }
  writeSync(handle, ']}}')
  closeSync(handle)
  return records
}

test('a HAR file of 254 MB is imported within 1.5 GB of memory', { timeout: 600_000 }, () => {
  const folder = temporaryDirectory()
  const har = join(folder, 'large.har')
  const records = largeHar(har)
  const watch = `process.on('exit', () => console.error('memory ' + process.resourceUsage().maxRSS))`
  const preload = `data:text/javascript,${encodeURIComponent(watch)}`
  const argv = ['--import', preload, resolve('dist/cli.js'), 'import', har, '--out', join(folder, 'out.json')]
  const { status, stdout, stderr } = spawnSync(process.execPath, [...argv, '--data', folder, '--json'], {
    encoding: 'utf8',
    maxBuffer: 64_000_000,
  })
  expect(status).toBe(0)
  expect(JSON.parse(stdout).records).toContainEqual(
    expect.objectContaining({ collection: 'agents', records }),
  )
  expect(Number(/memory (\d+)/.exec(stderr)?.[1])).toBeLessThan(1_500_000)
})
