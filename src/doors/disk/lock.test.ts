import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { folder } from '../../../test/support/disk-world.ts'
import { type Files, nodeFiles } from './files.ts'
import { Lock } from './lock.ts'

/** A program that takes the lock of the file that it is given, once told to, and says how that went; it ends with its input. */
async function contender(directory: string): Promise<string> {
  const outfile = join(directory, 'contender.mjs')
  const source = `
    import { nodeFiles } from '${join(import.meta.dirname, 'files.ts')}'
    import { Lock } from '${join(import.meta.dirname, 'lock.ts')}'
    console.log('ready')
    process.stdin.once('data', () => {
      try {
        Lock.take(nodeFiles, process.argv[2])
        console.log('taken')
      } catch (error) {
        console.log(error.name + ' ' + error.pid)
      }
    })
    process.stdin.once('end', () => process.exit())
  `
  await build({
    stdin: { contents: source, resolveDir: directory, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['lowdb'],
    alias: { lowdb: 'data:text/javascript,export class Low {}' },
    outfile,
    logLevel: 'error',
  })
  return outfile
}

function starts(program: string, file: string): { child: ChildProcess; said: () => Promise<string> } {
  const child = spawn(process.execPath, [program, file], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  child.stdout?.setEncoding('utf8').on('data', (text: string) => lines.push(...text.trim().split('\n')))
  const said = async (): Promise<string> => {
    while (lines.length === 0) await once(child.stdout as NodeJS.ReadableStream, 'data')
    return lines.shift() as string
  }
  return { child, said }
}

test('D4 of many simultaneous starts over the lock of a killed process one wins, and names itself to the others', async () => {
  const directory = folder(onTestFinished)
  const file = join(directory, 'world.json')
  const program = await contender(directory)
  const first = starts(program, file)
  await first.said()
  first.child.stdin?.write('go\n')
  expect(await first.said()).toBe('taken')
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  expect(existsSync(`${file}.lock`)).toBe(true)

  const all = Array.from({ length: 10 }, () => starts(program, file))
  for (const { said } of all) await said()
  for (const { child } of all) child.stdin?.write('go\n')
  const results = await Promise.all(all.map(({ said }) => said()))
  expect(results.filter((said) => said === 'taken')).toHaveLength(1)
  const losers = results.filter((said) => said !== 'taken')
  expect(losers.every((said) => /^StateFileLocked \d+$/.test(said))).toBe(true)
  const winner = JSON.parse(readFileSync(`${file}.lock`, 'utf8')).pid
  expect(all[results.indexOf('taken')]?.child.pid).toBe(winner)
  for (const { child } of all) child.stdin?.end()
  await Promise.all(all.map(({ child }) => (child.exitCode === null ? once(child, 'exit') : undefined)))
  Lock.take(nodeFiles, file).release()
  expect(readdirSync(directory)).toEqual(['contender.mjs'])
})

test('a second emulator of the same process is refused as well', () => {
  const file = join(folder(onTestFinished), 'world.json')
  const lock = Lock.take(nodeFiles, file)
  expect(() => Lock.take(nodeFiles, file)).toThrow(
    `${file} is in use by process ${process.pid}. Stop that process, or choose another data directory. If it is no emulator, delete ${file}.lock.`,
  )
  lock.release()
  Lock.take(nodeFiles, file).release()
})

test.each([
  ['a process that is not there', JSON.stringify({ pid: 2 ** 22 + 1, started: '1', id: 'gone' })],
  ['an earlier process with this number', JSON.stringify({ pid: process.pid, started: '1', id: 'earlier' })],
  ['nothing', ''],
  ['something else', '{"pid": -1, "id": "../x"}'],
])('a lock of %s is taken over', (_, content) => {
  const directory = folder(onTestFinished)
  const file = join(directory, 'world.json')
  writeFileSync(`${file}.lock`, content)
  const lock = Lock.take(nodeFiles, file)
  expect(readdirSync(directory)).toEqual(['world.json.lock'])
  expect(() => Lock.take(nodeFiles, file)).toThrow(`in use by process ${process.pid}`)
  lock.release()
  expect(readdirSync(directory)).toEqual([])
})

test('a process that was killed while it took over a lock does not keep others from it', () => {
  const directory = folder(onTestFinished)
  const file = join(directory, 'world.json')
  writeFileSync(`${file}.lock`, JSON.stringify({ pid: 2 ** 22 + 1, started: '1', id: 'first' }))
  writeFileSync(`${file}.lock.evict-first`, JSON.stringify({ pid: 2 ** 22 + 2, started: '1', id: 'second' }))
  writeFileSync(`${file}.lock.left-over.tmp`, JSON.stringify({ pid: 2 ** 22 + 3, started: '1', id: 'third' }))
  Lock.take(nodeFiles, file)
  expect(readdirSync(directory)).toEqual(['world.json.lock'])
})

test('a lock that a faster process has taken over meanwhile is left to it', () => {
  const file = join(folder(onTestFinished), 'world.json')
  writeFileSync(`${file}.lock`, JSON.stringify({ pid: 2 ** 22 + 1, started: '1', id: 'gone' }))
  let other: Lock | undefined
  const slow: Files = {
    ...nodeFiles,
    link: (from, to) => {
      if (to.includes('.evict-')) other ??= Lock.take(nodeFiles, file)
      nodeFiles.link(from, to)
    },
  }
  expect(() => Lock.take(slow, file)).toThrow(`in use by process ${process.pid}`)
  const held = readFileSync(`${file}.lock`, 'utf8')
  other?.confirm()
  expect(readFileSync(`${file}.lock`, 'utf8')).toBe(held)
})

test('a lock that somebody removes is taken again, one that somebody has taken over is not', () => {
  const file = join(folder(onTestFinished), 'world.json')
  const lock = Lock.take(nodeFiles, file)
  nodeFiles.remove(`${file}.lock`)
  lock.confirm()
  expect(existsSync(`${file}.lock`)).toBe(true)
  nodeFiles.remove(`${file}.lock`)
  const other = Lock.take(nodeFiles, file)
  expect(() => lock.confirm()).toThrow('in use by process')
  lock.release()
  other.confirm()
  expect(existsSync(`${file}.lock`)).toBe(true)
})

test('a file system without links has locks, too', () => {
  const plain: Files = {
    ...nodeFiles,
    link: () => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
    },
  }
  const file = join(folder(onTestFinished), 'world.json')
  writeFileSync(`${file}.lock`, JSON.stringify({ pid: 2 ** 22 + 1, started: '1', id: 'gone' }))
  const lock = Lock.take(plain, file)
  expect(() => Lock.take(plain, file)).toThrow('in use by process')
  lock.release()
  expect(existsSync(`${file}.lock`)).toBe(false)
})
