import { defineScenario } from 'agent-workspace-emulator'
import { messages } from './_messages.ts'

// Endpoints without a contract in the specification respond with 501 until a stub defines their response. A team can record
// here what it has agreed on. `{ $request: ... }` is replaced by that part of the request, unchanged.
export default defineScenario({
  description: 'Converse, search and reading messages respond as a team has agreed',
  stubs: [
    {
      method: 'POST',
      path: '/converse',
      status: 201,
      body: {
        object: 'message',
        id: messages[1].id,
        role: 'agent',
        content: 'The pier is inspected in March.',
        knowledge_ids: { $request: '/body/knowledge_ids' },
      },
    },
    {
      method: 'GET',
      path: '/search',
      body: {
        object: 'list',
        query: { $request: '/query/query' },
        data: [{ object: 'page', id: 'page-handbook' }],
      },
    },
    {
      method: 'GET',
      path: '/conversations/{conversation_id}/messages',
      body: { object: 'list', data: messages, has_more: false },
    },
    {
      method: 'GET',
      path: '/messages/{message_id}',
      body: { ...messages[1], id: { $request: '/params/message_id' } },
    },
  ],
})
