// Pages and search: an example to change.
import { defineEndpoint } from 'agent-workspace-emulator'
import * as z from 'zod'

interface Page {
  readonly name: string
  readonly created_at: string
}

export default [
  defineEndpoint({
    method: 'GET',
    path: '/pages',
    summary: 'List the pages of the teamspace, newest first',
    handle: ({ records, caller, list }) => ({
      body: list(
        records<Page>('pages')
          .visibleTo(caller)
          .toSorted((a, b) => b.created_at.localeCompare(a.created_at)),
      ),
    }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/search',
    summary: 'Find pages whose name contains a text',
    query: z.looseObject({ q: z.string().trim().min(1) }),
    handle({ query, records, caller, list }) {
      const wanted = query.q.toLowerCase()
      const found = records<Page>('pages')
        .visibleTo(caller)
        .filter(({ name }) => name.toLowerCase().includes(wanted))
      return {
        body: list(found.map(({ id, name }) => ({ object: 'search_result', type: 'page', id, name }))),
      }
    },
  }),
]
