module bigfleet.example/test/kube/go-template

go 1.22
