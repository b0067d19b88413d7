import fs from 'node:fs'
import { promisify } from 'node:util'

// Preloaded into the emulator: one operation on its data folder fails. FAULT_AT is the number, from 1, of the operation that
// changes the folder; FAULT_HOW is the kind of fault; the file FAULT_MARK is created when the fault occurs.
const { FAULT_DIR = '', FAULT_MARK = '', FAULT_HOW = '', FAULT_AT = '0' } = process.env
const real = { ...fs }
const files = new Set()
let count = 0

const isOurs = (where) => (typeof where === 'number' ? files.has(where) : String(where).startsWith(FAULT_DIR))

const die = () => process.kill(process.pid, 'SIGKILL')

/** Returns whether the operation is to be run; `half` runs half of it. */
function strikes(half) {
  count += 1
  if (count !== Number(FAULT_AT)) return undefined
  real.writeFileSync(FAULT_MARK, '')
  if (FAULT_HOW === 'after') return 'after'
  if (FAULT_HOW === 'half') half?.()
  if (FAULT_HOW === 'before' || FAULT_HOW === 'half') die()
  return Object.assign(new Error(`${FAULT_HOW}: as planned`), { code: FAULT_HOW, syscall: 'any', errno: -1 })
}

function sync(name, half) {
  fs[name] = (...args) => {
    if (!isOurs(args[0])) return real[name](...args)
    const strike = strikes(() => half?.(...args))
    if (strike instanceof Error) throw strike
    const result = real[name](...args)
    if (strike === 'after') die()
    return result
  }
}

function soon(name, half) {
  const wrapped = (...args) => {
    const done = args.at(-1)
    if (!isOurs(args[0])) return real[name](...args)
    const strike = strikes(() => half?.(...args))
    if (strike instanceof Error) return void process.nextTick(done, strike)
    real[name](...args.slice(0, -1), (...result) => {
      if (strike === 'after') die()
      done(...result)
    })
  }
  const original = promisify(real[name])
  wrapped[promisify.custom] = (...args) =>
    isOurs(args[0])
      ? new Promise((resolve, reject) => {
          const done = (error, bytesWritten) => (error ? reject(error) : resolve({ bytesWritten }))
          wrapped(...args, done)
        })
      : original(...args)
  fs[name] = wrapped
}

const firstHalf = (file, bytes, from, length, at) => real.writeSync(file, bytes, from, length >> 1, at)

for (const name of ['ftruncateSync', 'truncateSync', 'renameSync', 'linkSync', 'copyFileSync', 'unlinkSync'])
  sync(name)
for (const name of ['mkdirSync', 'rmdirSync', 'openSync']) sync(name)
sync('writeSync', firstHalf)
for (const name of ['fsync', 'fdatasync']) soon(name)
soon('write', firstHalf)

const { openSync } = fs
fs.openSync = (path, ...rest) => {
  const file = openSync(path, ...rest)
  if (isOurs(path)) files.add(file)
  return file
}
const { closeSync } = fs
fs.closeSync = (file) => {
  files.delete(file)
  closeSync(file)
}
