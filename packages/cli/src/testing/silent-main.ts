// A build that is none: it ends well and prints something else.

console.log('{"kind":"decisions","version":2}');
