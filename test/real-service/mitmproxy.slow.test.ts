import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../cli/in-process.ts'
import { freePort } from '../support/free-port.ts'
import { imported } from './imported.ts'
import { recordTraffic } from './record.ts'

// Debian's version 8 writes HAR files with a script of its examples; from version 10 on it needs none.
const SCRIPT = '/usr/share/doc/mitmproxy/examples/contrib/har_dump.py'
const isInstalled = spawnSync('mitmdump', ['--version']).status === 0

test('what mitmproxy records between a client and the service is imported whole', async () => {
  expect(isInstalled, 'mitmdump is missing: sudo apt-get install mitmproxy').toBe(true)
  const folder = temporaryDirectory()
  const har = join(folder, 'traffic.har')
  let end = async () => {}
  const { entries } = await recordTraffic(async (base) => {
    const { origin, pathname } = new URL(base)
    const port = await freePort()
    const script = existsSync(SCRIPT) ? ['-s', SCRIPT] : []
    const argv = [
      '-q',
      '--mode',
      `reverse:${origin}`,
      '--listen-host',
      '127.0.0.1',
      '-p',
      String(port),
      ...script,
    ]
    const proxy = spawn('mitmdump', [...argv, '--set', `hardump=${har}`, '--set', `confdir=${folder}`])
    onTestFinished(() => void proxy.kill('SIGKILL'))
    end = async () => {
      proxy.kill('SIGINT')
      await once(proxy, 'exit')
    }
    while (!(await accepts(port)));
    return `http://127.0.0.1:${port}${pathname}`
  })
  await end()
  const { code, err, counts, report } = await imported(readFileSync(har))
  expect([code, err]).toEqual([0, ''])
  expect(report.entries).toBe(entries.length)
  expect(Object.keys(report.left_out).filter((reason) => reason.startsWith('body'))).toEqual([])
  expect(counts).toMatchObject({ pages: 30, consumption_rows: 45, batch_predictions: 8, messages: 30 })
})

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.on('error', () => setTimeout(() => resolve(false), 50))
    socket.on('connect', () => socket.destroy())
  })
