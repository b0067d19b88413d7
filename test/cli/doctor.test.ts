import { accessSync, chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  dataDirectory,
  hostClock,
  lock,
  nodeVersion,
  port,
  stateFiles,
} from '../../src/adapters/cli/doctor.ts'
import { openEmulator } from '../../src/emulator.ts'
import { command, temporaryDirectory } from './in-process.ts'

test('without problems, every line is ok', async () => {
  const { code, out } = await command(['doctor', '--port', '0', '--data', join(temporaryDirectory(), 'new')])
  expect(out.split('\n').map((line) => line.split(/ +/).slice(0, 2))).toEqual([
    ['ok', 'node'],
    ['ok', 'data'],
    ['ok', 'space'],
    ['ok', 'lock'],
    ['ok', 'files'],
    ['ok', 'port'],
    ['ok', 'fixtures'],
    ['ok', 'clock'],
  ])
  expect(code).toBe(0)
})

test('a problem is reported with its fix and exit code 1', async () => {
  const data = temporaryDirectory()
  const emulator = await openEmulator({ port: 0, fixtures: {}, data })
  onTestFinished(() => emulator.close())
  const { code, out } = await command(['doctor', '--port', '0', '--data', data])
  expect(code).toBe(1)
  expect(out).toContain(
    `problem  lock        ${data} is in use by process ${process.pid}. Stop it, or give another directory with --data.`,
  )
  const { out: json } = await command(['doctor', '--json', '--port', '0', '--data', data])
  expect(JSON.parse(json)).toMatchObject({ ok: false })
})

test('a running emulator of version 0.1 is a problem', async () => {
  const data = temporaryDirectory()
  writeFileSync(join(data, 'default.json.lock'), JSON.stringify({ pid: process.pid, id: 'x' }))
  expect(await lock(data)).toMatchObject({
    ok: false,
    detail: `${data} is in use by process ${process.pid}, an emulator of version 0.1.`,
  })
})

test('a lock of a process that has ended is not a problem', async () => {
  const data = temporaryDirectory()
  const emulator = await openEmulator({ port: 0, fixtures: {}, data })
  const left = JSON.parse(readFileSync(join(data, 'lock'), 'utf8'))
  await emulator.close()
  for (const pid of [2147483646, process.pid]) {
    // An earlier process with the same number: only its start time differs.
    writeFileSync(join(data, 'lock'), JSON.stringify({ ...left, pid, started: '1' }))
    expect((await lock(data)).ok).toBe(true)
  }
  writeFileSync(join(data, 'default.json.lock'), '{"pid": 2147483646, "id": "x"}')
  expect((await lock(data)).ok).toBe(true)
})

test('a lock of a running process on another host is a problem, and so is a lock that is not a file', async () => {
  const data = temporaryDirectory()
  const path = join(data, 'lock')
  const elsewhere = { id: 'x', pid: 1, started: '1', host: 'elsewhere', boot: null, namespace: null }
  writeFileSync(path, JSON.stringify({ beat: 0, ...elsewhere }))
  const found = lock(data)
  writeFileSync(path, JSON.stringify({ beat: 1, ...elsewhere }))
  expect(await found).toMatchObject({
    ok: false,
    detail: `${data} is in use by process 1 on host "elsewhere".`,
  })
  rmSync(path)
  mkdirSync(path)
  expect(await lock(data)).toMatchObject({ ok: false, detail: `${path} is not a readable file.` })
})

test('an emulator on the port is distinguished from another program', async () => {
  const emulator = await openEmulator({ port: 0, ephemeral: true, fixtures: {} })
  onTestFinished(() => emulator.close())
  const finding = await port('127.0.0.1', emulator.port)
  expect(finding.ok).toBe(false)
  expect(finding.detail).toMatch(/^An emulator \d+\.\d+\.\d+ already listens on 127\.0\.0\.1:\d+\.$/)
  const other = createServer((socket) => void socket.end('hello\n')).listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await new Promise((resolve) => other.once('listening', resolve))
  const taken = (other.address() as AddressInfo).port
  expect(await port('127.0.0.1', taken)).toMatchObject({
    ok: false,
    detail: `Another program listens on 127.0.0.1:${taken}.`,
  })
})

test('an address of another machine is a problem', async () => {
  expect(await port('192.0.2.1', 0)).toMatchObject({
    ok: false,
    detail: '192.0.2.1:0 cannot be listened on (EADDRNOTAVAIL).',
  })
})

// Root may write everywhere, so for root the mode is checked here, as the system checks it for other users.
function asOrdinaryUser(path: string, mode: number): void {
  if (process.getuid?.() !== 0) accessSync(path, mode)
  else if ((statSync(path).mode & 0o200) === 0) throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
}

test('records set aside as invalid, and a directory in place of a state file, are problems', async () => {
  const data = temporaryDirectory()
  mkdirSync(join(data, 'sandboxes', 'odd.json'), { recursive: true })
  expect(stateFiles(data)).toMatchObject({
    ok: false,
    detail: `${data}/sandboxes/odd.json is not a file: move it away.`,
  })
  rmSync(join(data, 'sandboxes'), { recursive: true })
  const invalid = [
    { pointer: '/collections/pages/3', reason: '/name: must be a string', record: { id: 'x' } },
  ]
  writeFileSync(join(data, 'default.json.invalid-1'), JSON.stringify(invalid))
  const { code, out } = await command(['doctor', '--port', '0', '--data', data])
  expect(code).toBe(1)
  expect(out).toContain(
    `problem  files       ${data}/default.json.invalid-1 contains 1 invalid records: /collections/pages/3: /name: must be a string.`,
  )
})

test('a data directory that is a file is a problem', () => {
  const file = join(temporaryDirectory(), 'data')
  writeFileSync(file, '')
  expect(dataDirectory(file)).toMatchObject({ ok: false, detail: `${file} is not a directory.` })
})

test('a data directory without write permission is a problem', () => {
  const directory = join(temporaryDirectory(), 'data')
  mkdirSync(directory)
  chmodSync(directory, 0o500)
  expect(dataDirectory(directory, asOrdinaryUser)).toMatchObject({
    ok: false,
    detail: `${directory} cannot be written to (EACCES).`,
  })
})

test.for([
  ['20.18.9', false],
  ['20.19.0', true],
  ['18.20.0', false],
  ['22.0.0', true],
] as const)('Node %s: %s', ([version, ok]) => {
  expect(nodeVersion(version).ok).toBe(ok)
})

test('a clock of the machine that is far in the past is a problem', () => {
  expect(hostClock(0)).toMatchObject({
    ok: false,
    detail: 'The clock of this machine is wrong: 1970-01-01T00:00:00.000Z.',
  })
  expect(hostClock(Date.parse('2030-01-01T00:00:00Z')).ok).toBe(true)
})
