import workspaceEmulator from 'agent-workspace-emulator/vite'
import { defineConfig } from 'vite'

export default defineConfig({ plugins: [workspaceEmulator()] })
