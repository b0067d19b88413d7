import * as z from 'zod'
import { anyObject } from '../../../kernel/fields.ts'
import { nameField } from '../../../kernel/worlds/names.ts'
import type { Kept } from '../../../kernel/worlds/snapshots.ts'
import { route, WORLD_BODY } from '../route.ts'
import { summaryOf } from '../world-summary.ts'

const named = () => z.strictObject({ name: nameField() })

/** Whole worlds at rest, clock included, each belonging to one sandbox. */
export const snapshotRoutes = [
  route({
    name: 'snapshots.list',
    method: 'GET',
    path: '/snapshots',
    summary: 'List the snapshots of the sandbox',
    answers:
      'Each with the instant and the revision of its world and its number of records, or with the problem that makes it unusable.',
    handle: async ({ host, sandbox }) => ({
      body: { object: 'list', data: await host.sandboxes.snapshots(sandbox).list() },
    }),
  }),
  route({
    name: 'snapshots.save',
    method: 'POST',
    path: '/snapshots',
    summary: 'Save the whole world, clock included, under a name; it replaces a snapshot of that name',
    answers: 'The snapshot: 201 when the name is new.',
    success: [200, 201],
    body: named,
    handle: async ({ host, sandbox, body: { name } }) =>
      answer(await host.sandboxes.snapshots(sandbox).save(name)),
  }),
  route({
    name: 'snapshots.export',
    method: 'GET',
    path: '/snapshots/{name}',
    summary: 'Show the state document that a snapshot holds',
    answers: 'What GET /state answered when it was saved.',
    handle: async ({ host, sandbox, params }) => ({
      body: await host.sandboxes.snapshots(sandbox).export(params.name),
    }),
  }),
  route({
    name: 'snapshots.import',
    method: 'PUT',
    path: '/snapshots/{name}',
    summary: 'Keep a state document as a snapshot, or refuse it whole',
    answers: 'The snapshot: 201 when the name is new.',
    success: [200, 201],
    bounds: WORLD_BODY,
    body: anyObject,
    handle: async ({ host, sandbox, params, body }) =>
      answer(await host.sandboxes.snapshots(sandbox).import(params.name, body)),
  }),
  route({
    name: 'snapshots.restore',
    method: 'POST',
    path: '/snapshots/{name}/restore',
    summary: 'Take everything back to a snapshot: records, clock, schedule, settings, limits and request log',
    answers: 'A summary of the world.',
    handle: async ({ host, sandbox, params }) => {
      await host.sandboxes.snapshots(sandbox).restore(params.name)
      return { body: { restored: params.name, ...summaryOf(sandbox) } }
    },
  }),
  route({
    name: 'snapshots.delete',
    method: 'DELETE',
    path: '/snapshots/{name}',
    summary: 'Delete a snapshot',
    answers: 'Nothing.',
    success: [204],
    handle: async ({ host, sandbox, params }) => {
      await host.sandboxes.snapshots(sandbox).delete(params.name)
      return { status: 204 }
    },
  }),
] as const

function answer({ entry, replaced }: Kept) {
  return { status: replaced ? 200 : 201, body: { ...entry, replaced } }
}
