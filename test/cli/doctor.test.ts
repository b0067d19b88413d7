import { accessSync, chmodSync, mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { thisProcess } from '../../src/adapters/storage/process-identity.ts'
import { dataDirectory, lock, nodeVersion, port } from '../../src/cli/doctor.ts'
import { openEmulator } from '../../src/emulator/emulator.ts'
import { command, temporaryDirectory } from './in-process.ts'

test('without problems, every line is ok', async () => {
  const { code, out } = await command(['doctor', '--port', '0', '--data', join(temporaryDirectory(), 'new')])
  expect(out.split('\n').map((line) => line.split(/ +/).slice(0, 2))).toEqual([
    ['ok', 'node'],
    ['ok', 'data'],
    ['ok', 'space'],
    ['ok', 'lock'],
    ['ok', 'port'],
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
    `problem  lock   ${data} is in use by process ${process.pid}. Stop it, or give another directory with --data.`,
  )
  const { out: json } = await command(['doctor', '--json', '--port', '0', '--data', data])
  expect(JSON.parse(json)).toMatchObject({ ok: false })
})

test('the lock of a process that has ended is not a problem, and neither is the old lock of a copied folder', () => {
  const data = temporaryDirectory()
  const path = join(data, 'lock')
  const ended = { ...thisProcess(), pid: 2 ** 22 + 1, nonce: 'a1' }
  writeFileSync(path, JSON.stringify(ended))
  expect(lock(data)).toMatchObject({ ok: true, detail: `${data} is not in use` })
  writeFileSync(path, JSON.stringify({ ...ended, host: 'elsewhere x y' }))
  expect(lock(data)).toMatchObject({
    ok: false,
    detail: `${data} is in use by process ${ended.pid} on host "elsewhere".`,
  })
  utimesSync(path, 0, 0)
  expect(lock(data).ok).toBe(true)
})

test('a directory in place of the lock is a problem', () => {
  const data = temporaryDirectory()
  mkdirSync(join(data, 'lock'))
  expect(lock(data)).toMatchObject({ ok: false, detail: expect.stringContaining('/lock is a directory') })
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
