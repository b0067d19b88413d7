/// <reference types="vite/client" />
/// <reference types="agent-workspace-emulator/vite/client" />
