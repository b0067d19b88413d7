import { accessSync, chmodSync, mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { thisProcess } from '../../src/adapters/storage/process-identity.ts'
import { dataDirectory, lock, nodeVersion, port } from '../../src/cli/doctor.ts'
import { serving } from '../support/http-server.ts'
import { command, temporaryDirectory, temporaryFile } from './in-process.ts'
import { cells, running } from './running.ts'

test('without problems, every line is ok', async () => {
  const { code, out } = await command(['doctor', '--port', '0', '--data', join(temporaryDirectory(), 'new')])
  const checks = cells(out).map((line) => line.split(' | ').slice(0, 2).join(' '))
  expect([code, ...checks]).toEqual([0, 'ok node', 'ok data', 'ok space', 'ok lock', 'ok port'])
})

test('a problem is reported with its fix and exit code 1', async () => {
  const data = temporaryDirectory()
  await running({ ephemeral: false, data })
  const { code, out } = await command(['doctor', '--port', '0', '--data', data])
  const use = `${data} is in use by process ${process.pid}. Stop it, or give another directory with --data.`
  expect([code, cells(out)]).toEqual([1, expect.arrayContaining([`problem | lock | ${use}`])])
  const { out: json } = await command(['doctor', '--json', '--port', '0', '--data', data])
  expect(JSON.parse(json)).toMatchObject({ ok: false })
})

test('the lock of an ended process and the old one of a copied folder are no problem, a directory in its place is', () => {
  const data = temporaryDirectory()
  const path = join(data, 'lock')
  const ended = { ...thisProcess(), pid: 2 ** 22 + 1, nonce: 'a1' }
  writeFileSync(path, JSON.stringify(ended))
  expect(lock(data)).toMatchObject({ ok: true, detail: `${data} is not in use` })
  writeFileSync(path, JSON.stringify({ ...ended, host: 'elsewhere x y' }))
  const detail = `${data} is in use by process ${ended.pid} on host "elsewhere".`
  expect(lock(data)).toMatchObject({ ok: false, detail })
  utimesSync(path, 0, 0)
  expect(lock(data).ok).toBe(true)
  rmSync(path)
  mkdirSync(path)
  expect(lock(data)).toMatchObject({ ok: false, detail: expect.stringContaining('/lock is a directory') })
})

test('a port may be used by an emulator or another program, and an address be that of another machine', async () => {
  const { emulator } = await running()
  const other = await serving((_, res) => void res.end('hello\n'))
  const problems = [
    await port('127.0.0.1', emulator.port),
    await port('127.0.0.1', other.port),
    await port('192.0.2.1', 0),
  ]
  expect(problems.map(({ ok, detail }) => [ok, detail])).toEqual([
    [false, expect.stringMatching(/^An emulator \d+\.\d+\.\d+ already listens on 127\.0\.0\.1:\d+\.$/)],
    [false, `Another program listens on 127.0.0.1:${other.port}.`],
    [false, '192.0.2.1:0 cannot be listened on (EADDRNOTAVAIL).'],
  ])
})

// Root may write everywhere, so for root the mode is checked here, as the system checks it for other users.
function asOrdinaryUser(path: string, mode: number): void {
  if (process.getuid?.() !== 0) accessSync(path, mode)
  else if ((statSync(path).mode & 0o200) === 0) throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
}

test('a data directory that is a file, a file where its snapshots go, or no permission to write is a problem', () => {
  for (const file of [temporaryFile('data', ''), temporaryFile('snapshots', '')])
    expect(dataDirectory(file.replace(/\/snapshots$/, ''))).toMatchObject({
      ok: false,
      detail: `${file} is not a directory.`,
    })
  const directory = temporaryDirectory()
  chmodSync(directory, 0o500)
  const detail = `${directory} cannot be written to (EACCES).`
  expect(dataDirectory(directory, asOrdinaryUser)).toMatchObject({ ok: false, detail })
})

test.for([
  ['20.18.9', false],
  ['20.19.0', true],
  ['18.20.0', false],
  ['22.0.0', true],
] as const)('Node %s: %s', ([version, ok]) => {
  expect(nodeVersion(version).ok).toBe(ok)
})
