import type { SandboxClient } from '../../src/index.ts'

/** Three small front ends with a bug that only an order of requests shows, and the same without it. */

const AUTOMATION = '/agents/agent-estimator/automations/automation-month-end'

type Json = Readonly<Record<string, string>>

/** Appends notes to an automation. The broken one reads and writes in two steps while another edit runs: its change is lost. */
export function notes(sandbox: SandboxClient, isFixed: boolean) {
  let last: Promise<unknown> = Promise.resolve()
  const edit = async (note: string): Promise<void> => {
    const { instructions } = (await (await sandbox.fetch(AUTOMATION)).json()) as Json
    const json = { instructions: `${instructions} ${note}` }
    await sandbox.fetch(AUTOMATION, { method: 'PATCH', json })
  }
  return {
    add: (note: string): Promise<void> => {
      const edited = isFixed ? last.then(() => edit(note)) : edit(note)
      last = edited
      return edited
    },
    text: async () => ((await (await sandbox.fetch(AUTOMATION)).json()) as Json).instructions,
  }
}

/** A form that creates a page. The broken one sends it at each click. */
export function form(sandbox: SandboxClient, isFixed: boolean) {
  let sent: Promise<Response> | undefined
  return {
    submit: (name: string): Promise<Response> => {
      const click = () => sandbox.fetch('/pages', { json: { name } })
      if (!isFixed) return click()
      sent ??= click().finally(() => {
        sent = undefined
      })
      return sent
    },
  }
}

/** Shows the automation that is selected. The broken one shows the answer that arrives last. */
export function details(sandbox: SandboxClient, isFixed: boolean) {
  let [selected, shown] = ['', '']
  return {
    get shown() {
      return shown
    },
    select: async (id: string): Promise<void> => {
      selected = id
      const response = await sandbox.fetch(`/agents/agent-estimator/automations/${id}`)
      const { name = '' } = (await response.json()) as Json
      if (!isFixed || selected === id) shown = name
    },
  }
}
