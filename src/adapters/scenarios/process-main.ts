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

// The process that the scripts of one generation live in. It is ended with its generation, or when a script hangs, so that
// nothing of a script outlives it; it is no protection against what a script wants to do.

/** Does the tasks that the emulator sends. @param afterTask called once, when the first task is done and its outcome on the way */
export function performTasks(afterTask: () => void): void {
  const [, , folder = ''] = process.argv
  const scripts = new Scripts(folder)
  let current: Task | undefined
  let done = 0
  endWithParent()
  // A terminal sends its signals to this process as well. When to end is the emulator's to say.
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

// Functions look at the sandbox without waiting for it, so that the process stands still until it has been shown.
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

// The event loop of this thread stands still while a script loops, so that another thread watches.
function endWithParent(): void {
  const end = "process.kill(process.pid, 'SIGKILL')"
  const code = `new (require('node:net').Socket)({ fd: ${PARENT_FD} }).on('close', () => ${end}).resume()`
  new Worker(code, { eval: true }).unref()
  process.on('disconnect', () => process.exit())
}

/** Where memory runs out, Linux is to end the scripts and not the emulator. */
function dieFirst(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Another system, or one that does not allow it.
  }
}
