Creator "Mark Newman on Fri Jul 21 12:39:27 2006"
graph [
  directed 0
  node
  [
    id 1
  ]
  node
  [
    id 2
  ]
  node
  [
    id 3
  ]
  node
  [
    id 4
  ]
  node
  [
    id 5
  ]
  node
  [
    id 6
  ]
  node
  [
    id 7
  ]
  node
  [
    id 8
  ]
  node
  [
    id 9
  ]
  node
  [
    id 10
  ]
  node
  [
    id 11
  ]
  node
  [
    id 12
  ]
  edge
  [
    source 1
    target 2
  ]
  edge
  [
    source 2
    target 3
  ]
  edge
  [
    source 3
    target 4
  ]
  edge
  [
    source 4
    target 5
  ]
  edge
  [
    source 5
    target 6
  ]
  edge
  [
    source 6
    target 7
  ]
  edge
  [
    source 7
    target 8
  ]
  edge
  [
    source 8
    target 9
  ]
  edge
  [
    source 9
    target 10
  ]
  edge
  [
    source 10
    target 11
  ]
  edge
  [
    source 11
    target 12
  ]
  edge
  [
    source 12
    target 1
  ]
  edge
  [
    source 1
    target 5
  ]
  edge
  [
    source 2
    target 6
  ]
  edge
  [
    source 3
    target 7
  ]
  edge
  [
    source 4
    target 8
  ]
  edge
  [
    source 5
    target 9
  ]
  edge
  [
    source 6
    target 10
  ]
]
