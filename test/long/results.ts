import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Figure } from '../proofs/proof.ts'

/** The outcome of one proof. */
export interface Outcome {
  readonly id: string
  readonly promise: string
  readonly figures: readonly Figure[]
  /** Date. */
  readonly at: string
  readonly seconds: number
  /** The reason why it did not finish. */
  readonly failure?: string
}

const FILE = 'test/long/RESULTS.md'

/** Writes outcomes to the results; sections of proofs that did not run are unchanged. */
export function writeResults(machine: string, outcomes: readonly Outcome[]): void {
  const before = existsSync(FILE) ? readFileSync(FILE, 'utf8') : ''
  const kept = new Map(
    [...before.matchAll(/^## (\w+): [\s\S]*?(?=^## |$(?![\s\S]))/gm)].map(([text, id = '']) => [
      id,
      text.trimEnd(),
    ]),
  )
  for (const outcome of outcomes) kept.set(outcome.id, section(machine, outcome))
  const all = [...kept]
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([, text]) => text)
  writeFileSync(FILE, `${[INTRODUCTION, ...all].join('\n\n')}\n`)
}

const INTRODUCTION = `# Long proofs

The results of the last run of \`npm run test:long\`, which writes this file. The short versions of the same proofs run with
\`npm run test:slow\`. Times are those of the machine that each section names, which had other work to do.`

function section(machine: string, { id, promise, figures, at, seconds, failure }: Outcome): string {
  const rows = figures.map(
    ({ what, value, promised, holds }) =>
      `| ${what} | ${value} | ${promised ?? ''} | ${promised === undefined ? '' : holds ? 'yes' : '**no**'} |`,
  )
  return [
    `## ${id}: ${promise}`,
    '',
    `\`npm run test:long -- ${id}\`, ${at}, ${seconds} s on ${machine}.`,
    '',
    ...(failure === undefined ? [] : [`It did not come to its end: ${failure}.`, '']),
    '| | found | promised | holds |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n')
}
