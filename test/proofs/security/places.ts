import { workspaceService } from '../../../src/emulator/service.ts'
import { KEYS } from '../../support/base-state.ts'
import { type Sent, send } from '../../support/send.ts'
import { inHeader, inUrl, judge, NAMES, own, type Trial } from './trial.ts'

/** Names as ids of records, existing or not. */
export async function asIds(trial: Trial): Promise<void> {
  const at = '2026-01-01T00:00:00.000Z'
  for (const name of inUrl) {
    const id = encodeURIComponent(name)
    const what = JSON.stringify(name)
    const user = { organization_id: 'org-1', email: 'e@example.com', first_name: 'F', last_name: 'L' }
    await judge(
      trial,
      `record id ${what}`,
      () => trial.control('PUT', `/state/users/${id}`, { ...user, created_at: at }),
      async () => {
        const one = await trial.control('GET', `/state/users/${id}`)
        const patched = await trial.control('PATCH', `/state/users/${id}`, { first_name: name })
        const all = await trial.control('GET', '/state/users')
        const ids = (all.body.data as { id: string }[]).map((each) => each.id)
        return one.body.id === name && patched.body.first_name === name && ids.includes(name)
      },
    )
    const membership = { teamspace_id: 'ts-a', role: 'member', agent_ids: [name], created_at: at }
    await judge(
      trial,
      `user id ${what}`,
      () => trial.control('PUT', `/state/memberships/${id}`, { ...membership, user_id: name }),
      async () => {
        const users = await trial.api('GET', '/organization/teamspaces/ts-a/users?limit=100')
        return (users.body.data as object[]).some((each) => Object.values(each).includes(name))
      },
    )
  }
  const unknown = ['state/{}', 'state/{}/x', 'faults/{}', 'fault-presets/{}', 'explain/{}', 'batches/{}']
  const bodies = [
    'scenarios/{}/start',
    'webhooks/deliveries/{}/redeliver',
    'limits/{}/fill',
    'faults/{}/reset',
  ]
  for (const name of inUrl) {
    for (const path of unknown)
      await absent(trial, `/${path.replace('{}', encodeURIComponent(name))}`, 'GET', undefined)
    for (const path of bodies)
      await absent(trial, `/${path.replace('{}', encodeURIComponent(name))}`, 'POST', {})
  }
}

/** A control path that leads to a 404 or to a list. */
async function absent(trial: Trial, path: string, method: string, json: unknown): Promise<void> {
  await judge(
    trial,
    `${method} ${path}`,
    () => trial.control(method, path, json),
    ({ body }) => body.object === 'list',
  )
}

/** All operations with a parameter in the path, and all lists with each name as cursor. */
export async function inPaths(trial: Trial): Promise<void> {
  for (const { method, path, name: operation } of workspaceService.operations.values()) {
    for (const name of inUrl) {
      const target = path.replaceAll(/\{\w+\}/g, encodeURIComponent(name))
      if (target !== path && !operation.startsWith('teamspace-users')) {
        await judge(
          trial,
          `${method} ${target}`,
          () => trial.api(method, target, method === 'GET' || method === 'DELETE' ? {} : { json: {} }),
          ({ body }) => body?.object === 'list',
        )
      }
      if (!operation.endsWith('.list')) continue
      for (const query of [`after=${encodeURIComponent(name)}`, `${encodeURIComponent(name)}=1`]) {
        const list = path.replace(/\{teamspace_?id\}/i, 'ts-a').replaceAll(/\{\w+\}/g, 'agent-1')
        await judge(
          trial,
          `${list}?${query}`,
          () => trial.api(method, `${list}?${query}`),
          ({ body }) => typeof body === 'object',
        )
      }
    }
  }
}

/** Names as unknown fields of bodies. */
export async function asMembers(trial: Trial): Promise<void> {
  for (const name of NAMES) {
    const what = JSON.stringify(name)
    const value = { polluted: 'x4' }
    const bodies: readonly (readonly [method: string, path: string, json: unknown])[] = [
      ['PATCH', '/settings', own(name, 1)],
      ['PATCH', '/clock', own(name, value)],
      ['POST', '/fixtures', own(name, value)],
      ['POST', '/fixtures', { collections: own(name, [value]) }],
      ['PUT', '/state', own(name, value)],
      ['PUT', '/state', { ...trial.emulator.sandbox.document(), ...own(name, value) }],
      ['PATCH', '/state/users/user-owner', own(name, value)],
      ['PATCH', '/state/pages/none', own(name, value)],
      ['POST', '/faults', own(name, value)],
      ['POST', '/faults', { match: { headers: own(name, 'x') }, do: [{ respond: { status: 500 } }] }],
      ['POST', '/faults', { match: { query: own(name, 'x') }, do: [{ respond: { status: 500 } }] }],
      ['POST', '/faults', { match: 'everything', do: [own(name, value)] }],
      ['POST', '/faults', { preset: name }],
      ['PUT', `/limits/data-views.list`, own(name, 1)],
      ['POST', '/requests/verify', { match: own(name, 'x') }],
      ['POST', '/provider-events', { source: name, event: name, payload: own(name, value) }],
      ['POST', '/webhooks', { url: 'http://127.0.0.1:1/', ...own(name, value) }],
    ]
    for (const [method, path, json] of bodies) {
      await judge(
        trial,
        `${method} ${path} with ${what}`,
        () => trial.control(method, path, json),
        () => true,
      )
      await trial.control('DELETE', '/faults')
    }
  }
}

/** Names of sandboxes and snapshots, also invalid ones. */
export async function asSandboxes(trial: Trial): Promise<void> {
  const { emulator } = trial
  const sandboxes = () => JSON.stringify(emulator.sandboxes.list().map(({ sandbox }) => sandbox.name))
  for (const name of NAMES) {
    const what = JSON.stringify(name)
    await judge(
      trial,
      `sandbox name ${what}`,
      () => trial.control('POST', '/sandboxes', { name, persist: true }),
      async () => (await trial.control('GET', `/sandboxes/${name}`)).body.name === name,
    )
    await judge(
      trial,
      `snapshot name ${what}`,
      () => trial.control('POST', '/snapshots', { name }),
      async () => (await trial.control('POST', `/snapshots/${name}/restore`)).body.restored === name,
    )
  }
  const known = sandboxes()
  for (const name of inUrl.filter((each) => !/^[a-z0-9][a-z0-9-]*$/.test(each))) {
    const path = encodeURIComponent(name)
    const requests: (() => Promise<Sent>)[] = [
      () => trial.control('GET', `/snapshots/${path}`),
      () => trial.control('PUT', `/snapshots/${path}`, emulator.sandbox.document()),
      () => trial.control('DELETE', `/snapshots/${path}`),
      () => trial.control('DELETE', `/sandboxes/${path}`),
      () => send({ emulator }, 'GET', `/@${path}/v1/data-views`),
    ]
    if (inHeader.includes(name)) {
      requests.push(
        () => trial.api('GET', '/data-views', { headers: { 'x-emulator-sandbox': name } }),
        () => trial.api('GET', '/data-views', { authorization: `Bearer ${KEYS.KU}@${name}` }),
      )
    }
    for (const request of requests) {
      await judge(
        trial,
        `sandbox ${JSON.stringify(name)}`,
        request,
        // A path with an empty name is the path of the list.
        ({ body }) => name === '' && body?.object === 'list',
      )
    }
  }
  if (sandboxes() !== known) trial.found.push('an invalid name has created or removed a sandbox')
}
