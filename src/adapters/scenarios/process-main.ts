import { readSync, writeFileSync, writeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { ScenarioSnapshot } from '../../core/scenarios/source.ts'
import type { HookFunction, StepFunction } from './define-scenario.ts'
import { problemOf } from './problem.ts'
import {
  type FromProcess,
  PARENT_FD,
  QUESTIONS_FD,
  type Question,
  type QuestionResponse,
  type SnapshotHead,
  type Task,
  type TaskOutcome,
} from './protocol.ts'
import { runFunction, Scripts } from './run-script.ts'

// The process in which the scripts of one generation run. It ends with its generation, or when a script hangs, so that a script
// leaves nothing after it. It is not a sandbox: scripts may do what the user may do.

/** Performs the tasks that the emulator sends. @param afterTask called once, after the outcome of the first task is sent */
export function performTasks(afterTask: () => void): void {
  const [, , folder = ''] = process.argv
  const scripts = new Scripts(folder)
  let current: Task | undefined
  let done = 0
  endWithParent()
  // A terminal also sends its signals to this process, but the emulator decides when it ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  dieFirst()

  process.on('uncaughtException', (error) => {
    say({ uncaught: problemOf(error, current?.file ?? folder) }, () => process.exit(1))
  })
  process.on('message', (task: Task) => {
    current = task
    void perform(task, scripts)
      .catch((thrown: unknown): TaskOutcome => ({ problem: problemOf(thrown, task.file) }))
      .then((outcome) => {
        current = undefined
        done += 1
        say({ id: task.id, outcome, outside: scripts.outside() }, done === 1 ? afterTask : undefined)
      })
  })
  say({ ready: true })
}

async function perform(task: Task, scripts: Scripts): Promise<TaskOutcome> {
  if (task.kind === 'load') return { loaded: await scripts.load(task.file) }
  const { id, file, ref, snapshot } = task
  const call = scripts.find(file, ref) as StepFunction | HookFunction
  return { commands: await runFunction(call, view(id, snapshot)) }
}

function view(id: number, head: SnapshotHead): ScenarioSnapshot {
  return {
    ...head,
    records: () => ask({ id, kind: 'records' }),
    state: (collection) => ask({ id, kind: 'state', collection }),
  }
}

// Functions read the sandbox synchronously, so the process blocks until the response is there.
function ask(question: Question) {
  writeSync(QUESTIONS_FD, `${JSON.stringify(question)}\n`)
  const response = JSON.parse(readLine()) as QuestionResponse
  if ('refusal' in response) throw new Error(response.refusal)
  return response.records
}

const NEWLINE = 10

function readLine(): string {
  const chunks: Buffer[] = []
  for (;;) {
    const chunk = Buffer.alloc(65_536)
    const length = readSync(QUESTIONS_FD, chunk)
    if (length === 0) process.exit()
    chunks.push(chunk.subarray(0, length))
    if (chunk[length - 1] === NEWLINE) return Buffer.concat(chunks).toString('utf8')
  }
}

function say(message: FromProcess, done = () => {}): void {
  process.send?.(message, done)
}

// A script that loops blocks the event loop of this thread, so another thread watches the parent.
function endWithParent(): void {
  const end = "process.kill(process.pid, 'SIGKILL')"
  const code = `new (require('node:net').Socket)({ fd: ${PARENT_FD} }).on('close', () => ${end}).resume()`
  new Worker(code, { eval: true }).unref()
  process.on('disconnect', () => process.exit())
}

/** Makes Linux end the scripts, and not the emulator, when memory runs out. */
function dieFirst(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Other systems have no such file, and some do not allow the write.
  }
}
