import type { BatchView } from '../index.ts'
import { call } from '../terminal/call-command.ts'
import { linesOf } from '../terminal/print.ts'

const ID = { '<id>': 'id of the batch' }

/** What the commands have in common that show a batch. The routes of resources have no types in this adapter. */
const SHOWN = { args: ID, lines: (view: object) => batchLines(view as BatchView) }

export const batchCommands = [
  call('batch list', 'GET /batches', {
    description: 'List the batches with their progress',
    columns: ['id', 'status', 'teamspace_id', 'finished', 'held', 'created_at'],
  }),
  call('batch show', 'GET /batches/{id}', {
    ...SHOWN,
    description: 'Show the plan of a batch, its progress and its future events',
  }),
  call('batch hold', 'PATCH /batches/{id}', {
    ...SHOWN,
    description: 'Stop the progress of a batch until it is released',
    body: () => ({ hold: true }),
  }),
  call('batch release', 'PATCH /batches/{id}', {
    ...SHOWN,
    description: 'Let a held batch continue',
    body: () => ({ hold: false }),
  }),
  call('batch fail', 'POST /batches/{id}/fail', {
    ...SHOWN,
    description: 'Fail a batch that is validating or in progress',
    args: { ...ID, '[detail]': 'reason in the error of the batch' },
    body: ({ detail }) => ({ detail }),
  }),
  call('batch expire', 'POST /batches/{id}/expire', {
    ...SHOWN,
    description: 'End the completion window of a batch',
  }),
  call('batch complete', 'POST /batches/{id}/complete', {
    ...SHOWN,
    description: 'Complete a batch at once',
  }),
  call('batch cleanup', 'POST /batches/{id}/cleanup', {
    ...SHOWN,
    description: 'Remove the results of a terminal batch',
  }),
  call('batch results', 'GET /batches/{id}/results', {
    description: 'List the results of a batch; before it is terminal, as its plan predicts',
    args: ID,
    lines: (page, { id }) => {
      const { data, has_more } = page as { readonly data: readonly object[]; readonly has_more: boolean }
      const next = `workspace-emulator call GET "batches/${id}/results?offset=${data.length}"`
      const lines = linesOf(page, ['custom_id', 'status', 'finished', 'output', 'error'])
      // A page ends early when its results take long to make.
      return has_more ? [...lines, `There are more: ${next}`] : lines
    },
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
