import type { Settings } from '../../kernel/assumptions.ts'
import { problem } from '../../kernel/errors.ts'
import { Chance } from '../../kernel/random.ts'
import type { Batch, End } from './batch.ts'
import { outputGenerator } from './generate-output.ts'
import { type Outcome, outcomesOf } from './outcomes.ts'
import { PREDICTION_FAILED } from './problems.ts'
import { canceledProblem, expiredProblem, type ItemProblem, resultsOrder } from './settings.ts'
import { amongFirst } from './stragglers.ts'

/**
 * The result stream of a terminal batch: one line for each item, line break included, each made when it is asked for. The
 * same batch under the same settings gives the same bytes. Specification: Endpoints / Retrieve batch prediction results.
 */
export function* resultLines(batch: Batch, settings: Settings): Generator<string, void> {
  const total = batch._emulator.request.items.length
  const lineOf = lineMaker(batch, settings)
  const order = settings.get(resultsOrder) === 'shuffled' ? shuffled(total, batch) : undefined
  for (let n = 0; n < total; n++) yield lineOf(order?.[n] ?? n)
}

function lineMaker(batch: Batch, settings: Settings): (index: number) => string {
  const { request, plan, progress, ended } = batch._emulator
  const isFinished = amongFirst(batch, progress.done)
  const outcomes = outcomesOf(batch)
  const generate = outputGenerator(request.output_schema)
  const head = `{"object":"batch_prediction.result","batch_id":${JSON.stringify(batch.id)},"custom_id":`
  const failure = (detail: string) =>
    tail('errored', JSON.stringify(itemProblem(settings, PREDICTION_FAILED, detail)))
  const tailOf = (outcome: Outcome, index: number): string => {
    if (outcome.status === 'errored') return failure(outcome.detail)
    const { output } = outcome
    const made = output === 'generated' ? generate(new Chance(plan.seed, 'output', index)) : output
    return `,"status":"succeeded","output":${JSON.stringify(made)},"error":null}\n`
  }
  const unfinished = ended === null ? failure('') : restTail(settings, ended)
  const reasons = new Map(plan.rejected.map(({ index, detail }) => [index, detail]))
  return (index) => {
    const id = JSON.stringify(request.items[index]?.custom_id)
    if (isFinished(index)) return head + id + tailOf(outcomes.of(index), index)
    const reason = ended?.rest === 'errored' ? reasons.get(index) : undefined
    return head + id + (reason === undefined ? unfinished : failure(reason))
  }
}

// What an item that never finished says; the same for all of them.
function restTail(settings: Settings, { rest, cause }: End): string {
  const kind =
    rest === 'errored'
      ? PREDICTION_FAILED
      : settings.get(rest === 'canceled' ? canceledProblem : expiredProblem)
  return tail(rest, JSON.stringify(itemProblem(settings, kind, cause)))
}

function tail(status: End['rest'], error: string): string {
  return `,"status":"${status}","output":null,"error":${error}}\n`
}

function itemProblem(settings: Settings, { code, title, status }: ItemProblem, detail: string) {
  return problem(settings, code, title, status, detail)
}

// Fisher and Yates: every order is as likely as another, and the seed decides which.
function shuffled(total: number, batch: Batch): Uint16Array {
  const order = Uint16Array.from({ length: total }, (_, index) => index)
  const chance = new Chance(batch._emulator.plan.seed, 'order')
  for (let last = total - 1; last > 0; last--) {
    const other = chance.int(0, last)
    const index = order[last] ?? last
    order[last] = order[other] ?? other
    order[other] = index
  }
  return order
}
