import type { BatchView } from '../../index.ts'
import { callCommand } from './call-command.ts'

const ID = { name: '<id>', description: 'id of the batch' }
const COLUMNS = ['id', 'status', 'teamspace_id', 'finished', 'held', 'created_at']

/** A command that changes one batch and shows it afterwards. */
function onBatch(
  name: string,
  description: string,
  route: `${'GET' | 'PATCH' | 'POST'} /batches/{id}${string}`,
  body?: (args: Readonly<Record<string, string | undefined>>) => object,
  args: readonly { readonly name: string; readonly description: string }[] = [],
) {
  return callCommand({
    name: `batch ${name}`,
    description,
    route,
    args: [ID, ...args],
    ...(body && { body }),
    lines: (view) => batchLines(view as BatchView),
  })
}

const listed = (name: string) =>
  callCommand({
    name,
    description: 'List the batches with their progress',
    route: 'GET /batches',
    columns: COLUMNS,
  })

export const batchCommands = [
  listed('batch'),
  listed('batch list'),
  onBatch('show', 'Show the plan of a batch, its progress and its future events', 'GET /batches/{id}'),
  onBatch('hold', 'Stop the progress of a batch until it is released', 'PATCH /batches/{id}', () => ({
    hold: true,
  })),
  onBatch('release', 'Let a held batch continue', 'PATCH /batches/{id}', () => ({ hold: false })),
  callCommand({
    name: 'batch change',
    description: 'Change the pace of a batch, or the outcomes of its unfinished items',
    route: 'PATCH /batches/{id}',
    args: [
      ID,
      { name: '<plan>', description: 'JSON in quotes, or the path of a JSON file: {"pace", "outcomes"}' },
    ],
    body: 'plan',
    lines: (view) => batchLines(view as BatchView),
  }),
  onBatch(
    'fail',
    'Fail a batch that is validating or in progress',
    'POST /batches/{id}/fail',
    ({ detail }) => ({ detail }),
    [{ name: '[detail]', description: 'reason in the error of the batch' }],
  ),
  onBatch('expire', 'End the completion window of a batch', 'POST /batches/{id}/expire'),
  onBatch('complete', 'Complete a batch at once', 'POST /batches/{id}/complete'),
  onBatch('cleanup', 'Remove the results of a terminal batch', 'POST /batches/{id}/cleanup'),
  callCommand({
    name: 'batch results',
    description: 'List the results of a batch; before it is terminal, as its plan predicts',
    route: 'GET /batches/{id}/results',
    args: [ID],
    columns: ['custom_id', 'status', 'finished', 'output', 'error'],
  }),
]

function batchLines({ batch, request, progress, plan, ahead }: BatchView): string[] {
  const held = progress.held ? ', held' : ''
  return [
    `${batch.id}: ${batch.status}${held}, ${progress.finished} of ${request.items} items finished`,
    ...Object.entries(plan.pace).map(([phase, pace]) => `  pace    ${phase} ${JSON.stringify(pace)}`),
    ...ahead.map(({ due_at, description }) => `  ${due_at}  ${description}`),
  ]
}
