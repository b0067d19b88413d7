import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { ScenarioSnapshot } from '../../kernel/scenario/commands.ts'
import type { HookFunction, StepFunction } from './define-scenario.ts'
import { problemOf } from './problem.ts'
import type { Answer, FromThread, Outcome, Question, SnapshotHead, Task, ThreadData } from './protocol.ts'
import { runFunction } from './run-function.ts'
import { Scripts } from './scripts.ts'

// The thread that the scripts of one generation live in. It is ended with its generation, or when a script hangs, so that
// nothing of a script outlives it; it is no protection against what a script wants to do.

const { folder, answers, flag } = workerData as ThreadData
const answered = new Int32Array(flag)
const scripts = new Scripts(folder)

parentPort?.on('message', (task: Task) => {
  void perform(task)
    .catch((thrown: unknown): Outcome => ({ problem: problemOf(thrown, task.file) }))
    .then((outcome) => say({ id: task.id, outcome, outside: scripts.outside() }))
})

async function perform(task: Task): Promise<Outcome> {
  if (task.kind === 'load') return { loaded: await scripts.load(task.file) }
  const { id, file, ref, snapshot } = task
  const call = scripts.find(file, ref) as StepFunction | HookFunction
  return { commands: await runFunction(call, view(id, snapshot)) }
}

function view(id: number, head: SnapshotHead): ScenarioSnapshot {
  return {
    ...head,
    batches: () => ask(id, { kind: 'batches' }),
    state: (collection) => ask(id, { kind: 'state', collection }),
  }
}

// Functions look at the world without waiting for it, so that the thread stands still until it has been shown.
function ask(id: number, question: Question) {
  Atomics.store(answered, 0, 0)
  say({ id, question })
  Atomics.wait(answered, 0, 0)
  const answer = receiveMessageOnPort(answers)?.message as Answer
  if ('refusal' in answer) throw new Error(answer.refusal)
  return answer.records
}

function say(message: FromThread): void {
  parentPort?.postMessage(message)
}
