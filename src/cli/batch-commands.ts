import type { BatchView } from '../index.ts'
import { call } from '../terminal/call-command.ts'
import { linesOf } from '../terminal/print.ts'

const ID = { '<id>': 'id of the batch' }

export const batchCommands = [
  call('batch list', 'GET /batches', {
    description: 'List the batches with their progress',
    columns: ['id', 'status', 'teamspace_id', 'finished', 'held', 'created_at'],
  }),
  showing('show', 'GET /batches/{id}', 'Show the plan of a batch, its progress and its future events'),
  showing('hold', 'PATCH /batches/{id}', 'Stop the progress of a batch until it is released', {
    body: () => ({ hold: true }),
  }),
  showing('release', 'PATCH /batches/{id}', 'Let a held batch continue', { body: () => ({ hold: false }) }),
  showing('fail', 'POST /batches/{id}/fail', 'Fail a batch that is validating or in progress', {
    args: { ...ID, '[detail]': 'reason in the error of the batch' },
    body: ({ detail }) => ({ detail }),
  }),
  showing('expire', 'POST /batches/{id}/expire', 'End the completion window of a batch'),
  showing('complete', 'POST /batches/{id}/complete', 'Complete a batch at once'),
  showing('cleanup', 'POST /batches/{id}/cleanup', 'Remove the results of a terminal batch'),
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

/** A command that shows the batch after its call. The routes of resources have no types in this adapter. */
function showing(
  name: string,
  route: string,
  description: string,
  more?: Partial<Parameters<typeof call>[2]>,
) {
  const lines = (view: object) => batchLines(view as BatchView)
  return call(`batch ${name}`, route, { description, args: ID, lines, ...more })
}

function batchLines({ batch, request, progress, plan, ahead }: BatchView): string[] {
  const held = progress.held ? ', held' : ''
  return [
    `${batch.id}: ${batch.status}${held}, ${progress.finished} of ${request.items} items finished`,
    ...Object.entries(plan.pace).map(([phase, pace]) => `  pace    ${phase} ${JSON.stringify(pace)}`),
    ...ahead.map(({ due_at, description }) => `  ${due_at}  ${description}`),
  ]
}
