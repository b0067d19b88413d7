import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { folder } from '../../../test/support/disk-emulator.ts'
import { Machines } from '../../../test/support/lock-processes.ts'
import { type Files, nodeFiles } from './files.ts'
import { Lock } from './lock.ts'
import { realPorts } from './lock-taking.ts'

const GONE = 2 ** 22 + 1

function dataFolder(): string {
  return join(folder(onTestFinished), 'data')
}

function take(data: string, files: Files = nodeFiles): Promise<Lock> {
  return Lock.take(data, () => {}, { ...realPorts(), files, startHeartbeat: () => async () => {} })
}

/** The content of the lock of a process in the same place. */
function lockOf(pid: number, id: string, started = '1'): string {
  const { place } = realPorts().self
  return JSON.stringify({ beat: '0'.repeat(20), id, pid, started, ...place })
}

/** Waits for input, takes the lock of the given folder and prints the result. It exits at the end of its input. */
const CONTENDER = `
    console.log('ready')
    process.stdin.once('data', async () => {
      try {
        await Lock.take(process.argv[2], () => {})
        console.log('taken')
      } catch (error) {
        console.log(error.name + ' ' + error.pid)
      }
    })
    process.stdin.once('end', () => process.exit())
`

/** Takes the lock of the given folder and starts the heartbeat, and does nothing else. */
const IDLE = `
    const lock = await Lock.take(process.argv[2], () => {})
    lock.startHeartbeat('now')
    console.log('taken')
`

/** Bundles a program that imports `Lock`. @returns its path */
async function program(directory: string, source: string): Promise<string> {
  const outfile = join(directory, 'program.mjs')
  const contents = `import { Lock } from '${join(import.meta.dirname, 'lock.ts')}'\n${source}`
  await build({
    stdin: { contents, resolveDir: directory, loader: 'ts' },
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

function starts(program: string, data: string): { child: ChildProcess; said: () => Promise<string> } {
  const child = spawn(process.execPath, [program, data], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  child.stdout?.setEncoding('utf8').on('data', (text: string) => lines.push(...text.trim().split('\n')))
  const said = async (): Promise<string> => {
    while (lines.length === 0) await once(child.stdout as NodeJS.ReadableStream, 'data')
    return lines.shift() as string
  }
  return { child, said }
}

test('D4 one of many simultaneous starts takes over the lock of a killed process, and the others report its pid', async () => {
  const directory = folder(onTestFinished)
  const data = join(directory, 'data')
  const contender = await program(directory, CONTENDER)
  const first = starts(contender, data)
  await first.said()
  first.child.stdin?.write('go\n')
  expect(await first.said()).toBe('taken')
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  expect(existsSync(join(data, 'lock'))).toBe(true)

  const all = Array.from({ length: 10 }, () => starts(contender, data))
  for (const { said } of all) await said()
  for (const { child } of all) child.stdin?.write('go\n')
  const results = await Promise.all(all.map(({ said }) => said()))
  expect(results.filter((said) => said === 'taken')).toHaveLength(1)
  const losers = results.filter((said) => said !== 'taken')
  expect(losers.every((said) => /^DataFolderLocked \d+$/.test(said))).toBe(true)
  const winner = JSON.parse(readFileSync(join(data, 'lock'), 'utf8')).pid
  expect(all[results.indexOf('taken')]?.child.pid).toBe(winner)
  for (const { child } of all) child.stdin?.end()
  await Promise.all(all.map(({ child }) => (child.exitCode === null ? once(child, 'exit') : undefined)))
  await (await take(data)).release()
  expect(readdirSync(data)).toEqual([])
})

test('the heartbeat does not keep its process alive', async () => {
  const directory = folder(onTestFinished)
  const { child, said } = starts(await program(directory, IDLE), join(directory, 'data'))
  expect(await said()).toBe('taken')
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('a second emulator in the same process is refused as well', async () => {
  const data = dataFolder()
  const lock = await take(data)
  await expect(take(data)).rejects.toThrow(
    `${data} is in use by process ${process.pid}. Stop that process, or choose another data folder (--data). If that process is not an emulator, delete ${data}/lock.`,
  )
  await lock.release()
  await (await take(data)).release()
})

test.each([
  ['a process that is not there', lockOf(GONE, 'gone')],
  ['an earlier process with this number', lockOf(process.pid, 'earlier')],
])('a lock of %s is taken over at once', async (_, content) => {
  const data = dataFolder()
  mkdirSync(data)
  writeFileSync(join(data, 'lock'), content)
  const lock = await take(data)
  expect(readdirSync(data)).toEqual(['lock'])
  await expect(take(data)).rejects.toThrow(`in use by process ${process.pid}`)
  await lock.release()
  expect(readdirSync(data)).toEqual([])
})

test.each([
  ['is empty', ''],
  ['has lost its content in a power cut', '\0\0\0'],
  ['is cut', '{"beat":"000'],
  ['names nobody', '{"beat":"1","pid": -1, "id": "../x"}'],
])(
  'a lock that %s may be incomplete, so it is taken over only after five seconds without a change',
  async (_, content) => {
    const data = dataFolder()
    mkdirSync(data)
    writeFileSync(join(data, 'lock'), content)
    const machines = new Machines()
    const taking = machines.process('a').take(data)
    await machines.pass(4_750)
    expect(readFileSync(join(data, 'lock'), 'utf8')).toBe(content)
    await machines.pass(500)
    await (await taking).release()
    expect(readdirSync(data)).toEqual([])
  },
)

test('a process that was killed while it took over a lock does not block others', async () => {
  const data = dataFolder()
  mkdirSync(data)
  writeFileSync(join(data, 'lock'), lockOf(GONE, 'first'))
  writeFileSync(join(data, 'lock.evict-first'), lockOf(GONE + 1, 'second'))
  for (const name of ['lock.third-1.tmp', 'lock.third-2.dead'])
    writeFileSync(join(data, name), lockOf(GONE + 2, 'third'))
  const others = ['lock.md', 'lock.mine.tmp', 'locks']
  for (const name of others) writeFileSync(join(data, name), 'of the user')
  await take(data)
  expect(readdirSync(data).sort()).toEqual(['lock', ...others])
})

test('a lock that a faster process has just taken over is left to that process', async () => {
  const data = dataFolder()
  mkdirSync(data)
  writeFileSync(join(data, 'lock'), lockOf(GONE, 'gone'))
  let other: Promise<Lock> | undefined
  const slow: Files = {
    ...nodeFiles,
    link: (from, to) => {
      if (to.includes('.evict-')) other ??= take(data)
      nodeFiles.link(from, to)
    },
  }
  await expect(take(data, slow)).rejects.toThrow(`in use by process ${process.pid}`)
  ;(await other)?.confirm()
})

test('a removed lock is taken again; a lock that another process has taken over is not', async () => {
  const data = dataFolder()
  const lock = await take(data)
  nodeFiles.remove(join(data, 'lock'))
  lock.confirm()
  expect(existsSync(join(data, 'lock'))).toBe(true)
  rmSync(data, { recursive: true })
  lock.confirm()
  nodeFiles.remove(join(data, 'lock'))
  const other = await take(data)
  expect(() => lock.confirm()).toThrow('has lost its data folder')
  await lock.release()
  other.confirm()
  expect(existsSync(join(data, 'lock'))).toBe(true)
})

test('locks also work on a file system without links', async () => {
  const plain: Files = {
    ...nodeFiles,
    link: () => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
    },
  }
  const data = dataFolder()
  mkdirSync(data)
  writeFileSync(join(data, 'lock'), lockOf(GONE, 'gone'))
  const lock = await take(data, plain)
  await expect(take(data, plain)).rejects.toThrow('in use by process')
  await lock.release()
  expect(existsSync(join(data, 'lock'))).toBe(false)
})

test.each([
  ['a directory', (path: string) => mkdirSync(path)],
  ['a FIFO', (path: string) => execFileSync('mkfifo', [path])],
  ['a symbolic link', (path: string) => symlinkSync('elsewhere', path)],
  ['a file of another program', (path: string) => writeFileSync(path, '{"lockfileVersion": 3}')],
])('%s in place of the lock is reported, with the fix', async (kind, make) => {
  const data = dataFolder()
  mkdirSync(data)
  make(join(data, 'lock'))
  await expect(take(data)).rejects.toThrow(
    `${data}/lock is ${kind}, and the emulator needs the lock of the data folder there. Move it away, for example with \`mv "${data}/lock" "${data}/lock.moved"\`, or choose another data directory.`,
  )
  expect(readdirSync(data)).toEqual(['lock'])
})

test('a FIFO that replaces the lock later is reported, and writes are refused until it is removed', async () => {
  const data = dataFolder()
  const lock = await take(data)
  rmSync(join(data, 'lock'))
  execFileSync('mkfifo', [join(data, 'lock')])
  expect(() => lock.confirm()).toThrow(`${data}/lock is a FIFO`)
  rmSync(join(data, 'lock'))
  lock.confirm()
})

test.each([
  ['EROFS', 'open', 'it is on a read-only file system'],
  ['EACCES', 'open', 'its permissions do not allow it'],
  ['EACCES', 'makeDirectory', 'its permissions do not allow it'],
] as const)(
  'a folder that cannot be written (%s of %s) is reported with the reason and the fix',
  async (code, name, reason) => {
    const data = dataFolder()
    const refuse = () => {
      throw Object.assign(new Error(`${code}: ${name}`), { code, syscall: name })
    }
    const user = process.getuid === undefined ? '' : ` (user id ${process.getuid()})`
    await expect(take(data, { ...nodeFiles, [name]: refuse })).rejects.toMatchObject({
      message: `The data folder ${data} cannot be written by this process${user}: ${reason} (${code}: ${name}). Make it writable, choose another one with --data, or keep everything in memory with --ephemeral`,
      code,
      syscall: name,
    })
  },
)

test.runIf(process.platform === 'linux')(
  'a folder that the system cannot create is refused at once',
  async () => {
    await expect(take('/proc/x')).rejects.toThrow(
      /^The data folder \/proc\/x cannot be written .* it does not exist and cannot be created \(ENOENT/,
    )
  },
)

test('a path with a file in place of a folder is refused with that reason', async () => {
  const file = join(folder(onTestFinished), 'file')
  writeFileSync(file, '')
  for (const data of [file, join(file, 'data')])
    await expect(take(data)).rejects.toThrow('a part of its path is not a folder')
})

test('a lock that cannot be removed is reported, and release() still resolves', async () => {
  const data = dataFolder()
  const said: string[] = []
  const stuck: Files = {
    ...nodeFiles,
    remove: (path) => {
      if (path.endsWith('/lock')) throw Object.assign(new Error('EIO: remove'), { code: 'EIO' })
      return nodeFiles.remove(path)
    },
  }
  const lock = await Lock.take(data, ({ message }) => said.push(message), { ...realPorts(), files: stuck })
  await lock.release()
  expect(said).toEqual([expect.stringContaining(`delete ${data}/lock`)])
})
