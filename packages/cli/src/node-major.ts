// The one major of Node.js that BigFleet runs on; scripts would otherwise silently run on another.

export const REQUIRED_NODE_MAJOR = 24;
