import type { HeldAtGate } from '../core/time/scheduler.ts'
import { call, sandboxCommand } from '../terminal/call-command.ts'
import { show, table } from '../terminal/print.ts'

export const gateCommands = [
  call('gates', 'GET /gates', {
    description: 'List the gates, and the requests and webhooks that wait at them',
    lines: ({ data }) => {
      if (data.length === 0) return ['There is no gate. "workspace-emulator faults add gate" arms one.']
      const rows = data.map(({ id, at, release, held }) => [
        id,
        at,
        release === undefined ? 'by hand' : JSON.stringify(release),
        held.length === 0 ? 'nothing' : held.map(({ id, name }) => `${name} (${id})`).join(', '),
      ])
      return table(['GATE', 'AT', 'RELEASED', 'WAITS'], rows)
    },
  }),
  moving('release', 'Let everything at a gate go on, or at all gates', 'Released'),
  moving('abort', 'Cut the connections of all requests at a gate, or at all gates', 'Aborted'),
]

function moving(how: 'release' | 'abort', description: string, done: string) {
  return sandboxCommand(`gates ${how}`, {
    description,
    args: { '[id]': 'the gate, as gates shows it' },
    run: async (ask, invocation) => {
      const [one] = invocation.args
      const all = one === undefined ? (await ask('GET /gates')).data.map(({ id }) => id) : [one]
      let held: readonly HeldAtGate[] = []
      for (const id of new Set(all))
        held = [...held, ...(await ask(`POST /gates/{id}/${how}`, { params: { id } })).held]
      const names = held.map(({ id, name }) => `${name} (${id})`).join(', ')
      return show(invocation, { held }, [held.length === 0 ? 'Nothing waits.' : `${done}: ${names}.`])
    },
  })
}
